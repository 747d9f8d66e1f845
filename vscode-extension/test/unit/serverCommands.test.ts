import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { serverAction } from "../../src/model/serverCommands";
import * as protocol from "../../src/protocol";

const session = "/s/a.jsonl";
const preview = "pv_1";

test("a quick fix that compacts shows the preview that can be edited, as the one that previews does", () => {
  const argument = { session, layer: null, focus: null };
  assert.deepEqual(serverAction("ullage.compact", { session }), { kind: "preview", argument });
  assert.deepEqual(serverAction("ullage.preview", { session }), { kind: "preview", argument });
  assert.deepEqual(serverAction("ullage.preview", { session, layer: "full", focus: "tests" }), {
    kind: "preview",
    argument: { session, layer: "full", focus: "tests" },
  });
});

test("the lenses of a proposal name their preview, whichever editor is active", () => {
  for (const kind of ["apply", "regenerate", "discard"]) {
    assert.deepEqual(serverAction(`ullage.${kind}`, { preview }), { kind, preview });
  }
});

test("pruning lets the user choose, unless it is said what is pruned", () => {
  assert.deepEqual(serverAction("ullage.prune", { session }), { kind: "choose pruned", session });
  assert.deepEqual(serverAction("ullage.prune", { session, items: ["1"] }), { kind: "execute" });
});

test("restoring lets the user choose the way, unless the lens has named it", () => {
  assert.deepEqual(serverAction("ullage.restore", { session }), { kind: "choose way", session, checkpoint: null });
  assert.deepEqual(serverAction("ullage.restore", { session, checkpoint: "cp_002", into: "new" }), {
    kind: "restore",
    session,
    checkpoint: "cp_002",
    way: "new",
  });
  assert.equal(serverAction("ullage.restore", { session, checkpoint: "cp_002", into: "elsewhere" }).kind, "choose way");
});

test("a document of the server is opened", () => {
  const uri = "ullage:/Summary.md?session=a&entry=b";
  assert.deepEqual(serverAction("ullage.show", { uri }), { kind: "show", uri });
});

test("without an argument the shown session and the active preview are meant", () => {
  assert.deepEqual(serverAction("ullage.prune", undefined), { kind: "choose pruned", session: null });
  assert.deepEqual(serverAction("ullage.apply", null), { kind: "apply", preview: undefined });
});

test("all that the server offers in a document is known here, and the rest is the server's", () => {
  const source = ["code_actions", "lenses"]
    .map((name) => readFileSync(`../server/ullage/lsp/documents/${name}.py`, "utf8"))
    .join("\n");
  const constants = Object.entries(protocol).filter(([name]) => name.endsWith("_COMMAND"));
  const offered = constants.filter(([name]) => source.includes(name));
  assert.ok(offered.length >= 8);
  const left = offered.filter(([, command]) => serverAction(command, {}).kind === "execute").map(([name]) => name);
  assert.deepEqual(left.sort(), ["ACCEPT_MEMORY_COMMAND", "CHECKPOINT_COMMAND", "PIN_COMMAND", "UNDO_COMMAND"]);
});

test("a review is made as the lens says, several items become one in words that the user is asked for", () => {
  const argument = { path: "/w/DREAMS.md", choice: "accept", ids: ["64778c58"] };
  const whole = { ...argument, text: null, isConfirmed: false };
  assert.deepEqual(serverAction("ullage.reviewMemory", argument), { kind: "review", argument: whole });
  const merged = { path: "/w/DREAMS.md", choice: "merge", ids: ["1", "2"], text: "Tabs." };
  assert.deepEqual(serverAction("ullage.reviewMemory", merged), { kind: "merge", argument: { ...merged, isConfirmed: false } });
  assert.deepEqual(serverAction("ullage.reviewMemory", { ...argument, choice: "keep" }), { kind: "execute" });
  assert.deepEqual(serverAction("ullage.undoReview", { path: "/w/DREAMS.md" }), {
    kind: "undo review",
    argument: { path: "/w/DREAMS.md", change: null },
  });
  assert.deepEqual(serverAction("ullage.editMemoryItem", { path: "/w/DREAMS.md", id: "1" }), { kind: "execute" });
});
