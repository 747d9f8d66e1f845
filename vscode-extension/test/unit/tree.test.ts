import assert from "node:assert/strict";
import { test } from "node:test";
import { checkpointTreeRow, memoriesTreeRow, memoryTreeRow, sessionTreeRow, subagentsTreeRow, windowTreeRow, withSubagents } from "../../src/model/tree";
import type { CheckpointRow, MemoryRow, SessionRow, WindowRow } from "../../src/protocol";

const session: SessionRow = {
  session: { agent: "openclaw", sessionId: "s1", path: "/s/s1.jsonl" },
  title: "Fix the retry",
  gauge: "42%",
  detail: "pi · 2 min ago",
  level: "normal",
  isLive: false,
  isShown: true,
  label: "Fix the retry, 42% used",
  subagents: [],
  canWrite: true,
  canNote: true,
  isAutomatic: false,
};
const entry: WindowRow = {
  key: "entry:7",
  kind: "entry",
  title: "1,200 · read a.ts",
  detail: "",
  tooltip: "**read a.ts**",
  label: "read a.ts, 1,200 tokens",
  nTokens: 1200,
  path: null,
  uri: "ullage:/Context.md?entry=7",
  item: "item-7",
  entry: "7",
  pin: null,
  children: [],
};
const checkpoint: CheckpointRow = {
  checkpoint: "cp_002",
  path: "/c/cp_002.yaml",
  title: "cp_002 · retry",
  detail: "1 h ago",
  tooltip: "**cp_002**",
  label: "Checkpoint cp_002",
  isLatest: true,
  isReadable: true,
  previous: "cp_001",
};

const instructions: MemoryRow = {
  path: "/w/AGENTS.md",
  kind: "instructions",
  title: "AGENTS.md",
  detail: "2 kB",
  label: "AGENTS.md",
  tooltip: "",
  firstLine: null,
  lastLine: null,
  uri: null,
  sha256: null,
  item: null,
};

test("the shown session is open, the others wait for a click", () => {
  assert.equal(sessionTreeRow(session, true).state, "expanded");
  assert.equal(sessionTreeRow(session, false).state, "collapsed");
  assert.deepEqual(sessionTreeRow(session, false).target, { kind: "choose" });
});

test("a row keeps its id while what it says changes", () => {
  const later = { ...session, gauge: "43%", detail: "pi · now", title: "Fix it", isLive: true };
  assert.equal(sessionTreeRow(later, false).id, sessionTreeRow(session, true).id);
  assert.equal(windowTreeRow({ ...entry, nTokens: 1 }, session).id, windowTreeRow(entry, later).id);
});

test("a session is as full as its row says first", () => {
  assert.equal(sessionTreeRow(session, true).title, "42% · Fix the retry");
});

test("the same entry of two sessions has two ids", () => {
  const other = { ...session, session: { ...session.session, path: "/s/s2.jsonl" } };
  assert.notEqual(windowTreeRow(entry, session).id, windowTreeRow(entry, other).id);
});

test("a session says by its icon that it is live or nearly full", () => {
  assert.equal(sessionTreeRow({ ...session, isLive: true }, true).icon, "pulse");
  assert.equal(sessionTreeRow({ ...session, isLive: true, level: "error" }, true).icon, "error");
  assert.notEqual(sessionTreeRow(session, true).icon, sessionTreeRow(session, false).icon);
});

test("an entry can be pruned and pinned only where its session may be changed", () => {
  assert.equal(windowTreeRow(entry, session).context, "entry prunable pinnable");
  assert.equal(windowTreeRow({ ...entry, item: null }, session).context, "entry pinnable");
  assert.equal(windowTreeRow(entry, { ...session, canWrite: false }).context, "entry");
});

test("a part leads to the file that it comes from, and one that is cut warns", () => {
  const part: WindowRow = { ...entry, key: "part:memory", kind: "part", path: "/h/MEMORY.md", uri: null, item: null, entry: null };
  const row = windowTreeRow(part, session);
  assert.deepEqual(row.target, { kind: "file", path: "/h/MEMORY.md" });
  assert.deepEqual([row.icon, row.level], ["symbol-file", "normal"]);
  const cut = windowTreeRow({ ...part, kind: "cut" }, session);
  assert.deepEqual([cut.icon, cut.level], ["warning", "warning"]);
});

test("an entry opens as readable chat, and what is none leads nowhere", () => {
  assert.deepEqual(windowTreeRow(entry, session).target, { kind: "document", uri: "ullage:/Context.md?entry=7" });
  assert.equal(windowTreeRow({ ...entry, uri: null }, session).target, undefined);
});

test("a pin can be removed where something may be noted, unless it is the configuration's", () => {
  const pin: WindowRow = { ...entry, kind: "pin", item: null, entry: null, pin: "Never push." };
  assert.deepEqual([windowTreeRow(pin, session).context, windowTreeRow(pin, session).icon], ["pin removable", "pin"]);
  assert.equal(windowTreeRow(pin, { ...session, canNote: false }).context, "pin");
  assert.equal(windowTreeRow({ ...pin, pin: null }, session).context, "pin");
});

test("a category is closed until it is opened, and an entry cannot be", () => {
  assert.equal(windowTreeRow({ ...entry, kind: "category", children: [entry] }, session).state, "collapsed");
  assert.equal(windowTreeRow(entry, session).state, "leaf");
});

test("a damaged checkpoint opens, and nothing else can be done with it", () => {
  const row = checkpointTreeRow({ ...checkpoint, isReadable: false, previous: null }, "/s/s1.jsonl");
  assert.equal(row.context, "checkpoint");
  assert.equal(row.level, "error");
  assert.deepEqual(row.target, { kind: "file", path: "/c/cp_002.yaml" });
});

test("a checkpoint that follows another can be compared with it", () => {
  assert.equal(checkpointTreeRow(checkpoint, "/s/s1.jsonl").context, "checkpoint readable follows");
  assert.equal(checkpointTreeRow({ ...checkpoint, previous: null }, "/s/s1.jsonl").context, "checkpoint readable");
});

test("what waits leads to its line, is known by itself, and is judged only where that may be written", () => {
  const item: MemoryRow = { ...instructions, kind: "item", path: "/w/DREAMS.md", firstLine: 6, lastLine: 6, item: "64778c58" };
  const row = memoryTreeRow(item);
  assert.equal(row.context, "item reviewable");
  assert.deepEqual(row.target, { kind: "lines", path: "/w/DREAMS.md", firstLine: 6, lastLine: 6 });
  // Another item that is accepted moves it up: it stays the selected one.
  assert.equal(memoryTreeRow({ ...item, firstLine: 2, lastLine: 2 }).id, row.id);
  assert.equal(memoryTreeRow({ ...item, item: null }).context, "item");
  const group = memoriesTreeRow("item", [item], "Inbox");
  assert.deepEqual([group.icon, group.level, group.label], ["inbox", "normal", "Inbox, 1"]);
});

test("a memory file opens, and what was recalled of one at its lines", () => {
  assert.deepEqual(memoryTreeRow(instructions).target, { kind: "file", path: "/w/AGENTS.md" });
  const recall = memoryTreeRow({ ...instructions, kind: "recall", firstLine: 2, lastLine: 4 });
  assert.deepEqual(recall.target, { kind: "lines", path: "/w/AGENTS.md", firstLine: 2, lastLine: 4 });
  assert.notEqual(recall.id, memoryTreeRow(instructions).id);
});

test("a change from outside shows what changed, and can be accepted where something may be written", () => {
  const change: MemoryRow = { ...instructions, kind: "change", uri: "ullage:/Memory%20Changes.diff", sha256: "a1" };
  const row = memoryTreeRow(change);
  assert.deepEqual(row.target, { kind: "document", uri: "ullage:/Memory%20Changes.diff" });
  assert.deepEqual([row.level, row.context], ["warning", "change acceptable"]);
  assert.equal(memoryTreeRow({ ...change, sha256: null }).context, "change");
  const group = memoriesTreeRow("change", [change], "Changed from outside");
  assert.deepEqual([group.state, group.level, group.detail], ["expanded", "warning", "1"]);
});

test("what keeps recalls from being shown leads nowhere", () => {
  const row = memoryTreeRow({ ...instructions, kind: "problem" });
  assert.deepEqual([row.target, row.level], [undefined, "error"]);
});

test("every row has words for a screen reader", () => {
  const parent = { ...session, subagents: [session] };
  const rows = [sessionTreeRow(session, true), subagentsTreeRow(parent, "Subagents"), windowTreeRow(entry, session), checkpointTreeRow(checkpoint, "/s"), memoryTreeRow(instructions), memoriesTreeRow("item", [instructions], "Inbox")];
  assert.ok(rows.every(({ label }) => label !== ""));
});

test("subagents of subagents are found", () => {
  const inner = { ...session, session: { ...session.session, path: "/s/3" } };
  const outer = { ...session, session: { ...session.session, path: "/s/2" }, subagents: [inner] };
  const paths = withSubagents([{ ...session, subagents: [outer] }]).map((row) => row.session.path);
  assert.deepEqual(paths, ["/s/s1.jsonl", "/s/2", "/s/3"]);
});
