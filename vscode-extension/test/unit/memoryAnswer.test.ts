import assert from "node:assert/strict";
import { test } from "node:test";
import { answerRows } from "../../src/model/memoryAnswer";
import type { MemoryHitRow } from "../../src/protocol";

const hit: MemoryHitRow = {
  path: "/w/MEMORY.md",
  firstLine: 2,
  lastLine: 2,
  title: "Ledgers are kept in PostgreSQL.",
  place: "MEMORY.md:3",
  detail: "Decisions · typed by you",
};

test("an answer shows its place, its heading with its origin, and its text", () => {
  const [row] = answerRows({ rows: [hit], message: "" });
  assert.deepEqual([row?.label, row?.description, row?.detail], [hit.place, hit.detail, hit.title]);
  assert.equal(row?.hit, hit);
});

test("what is to be said stands below the answers and opens nothing", () => {
  const rows = answerRows({ rows: [hit], message: "the index was built again" });
  assert.deepEqual(rows.map((row) => row.hit), [hit, undefined]);
  assert.deepEqual(answerRows({ rows: [], message: "nothing found" }).map(({ label }) => label), ["nothing found"]);
});

test("memory draws no icons", () => {
  const [row] = answerRows({ rows: [{ ...hit, title: "see $(verified) and $(sync~spin)" }], message: "" });
  assert.equal(row?.detail, "see \\$(verified) and \\$(sync~spin)");
});
