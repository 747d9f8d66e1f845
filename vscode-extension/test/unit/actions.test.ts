import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLink, hoverActions, menu, restoreWays, type Action } from "../../src/model/actions";

const all = { isTrusted: true, canWrite: true, canNote: true, isAutomatic: false };
const commands = (actions: readonly Action[]): string[] => actions.map(({ command }) => command.replace("ullage.", ""));
const names = (abilities: typeof all, hasCheckpoint = true): string[] => {
  const { entries, more } = menu(abilities, hasCheckpoint);
  return commands([...entries, ...more]);
};

test("the menu has at most six entries, with the one that leads to more, and all have an icon", () => {
  for (const isTrusted of [true, false]) {
    for (const canWrite of [true, false]) {
      for (const hasCheckpoint of [true, false]) {
        const { entries, more } = menu({ ...all, isTrusted, canWrite }, hasCheckpoint);
        assert.ok(entries.length > 0 && entries.length + Math.min(more.length, 1) <= 6);
        assert.notEqual(more.length, 1);
        assert.ok([...entries, ...more].every(({ icon }) => icon !== ""));
      }
    }
  }
});

test("what changes the session comes first, what shows it is behind one more entry", () => {
  const { entries, more } = menu(all, true);
  assert.deepEqual(commands(entries), ["compactSession", "pruneToolResults", "undoChange", "writeCheckpoint", "restoreCheckpoint"]);
  assert.deepEqual(commands(more), ["showWindow", "showPlot", "showStatus", "redoChange", "turnAutomaticOn"]);
});

test("without a checkpoint none is offered to be restored", () => {
  assert.equal(names(all, false).includes("restoreCheckpoint"), false);
});

test("an untrusted workspace is offered what reads, and nothing else", () => {
  assert.deepEqual(names({ ...all, isTrusted: false }), ["restoreCheckpoint", "showWindow", "showPlot", "showStatus"]);
});

test("a session that is only read can still have checkpoints", () => {
  assert.deepEqual(names({ ...all, canWrite: false }), ["writeCheckpoint", "restoreCheckpoint", "showWindow", "showPlot", "showStatus"]);
});

test("a read-only workspace is offered what reads, and nothing else", () => {
  const readOnly = { ...all, canWrite: false, canNote: false };
  assert.deepEqual(names(readOnly), ["restoreCheckpoint", "showWindow", "showPlot", "showStatus"]);
});

test("automatic compaction is offered the other way round than it is", () => {
  assert.ok(names(all).includes("turnAutomaticOn"));
  assert.deepEqual(names({ ...all, isAutomatic: true }).filter((name) => name.includes("Automatic")), ["turnAutomaticOff"]);
});

test("the hover offers nothing that the menu does not", () => {
  assert.deepEqual(hoverActions({ ...all, isTrusted: false }), ["ullage.showWindow"]);
  assert.equal(hoverActions(all).length, 4);
});

test("a link carries its session's path, whatever characters that has", () => {
  const path = "C:\\a b\\(1) [x] \"ü\" 'y'%20.jsonl";
  const link = commandLink("Compact…", "ullage.compactSession", path);
  const match = /^\[Compact…\]\(command:ullage\.compactSession\?([^()\s]*)\)$/.exec(link);
  assert.deepEqual(JSON.parse(decodeURIComponent(match?.[1] ?? "")), [path]);
});

test("where nothing may be written, a checkpoint is restored as text alone", () => {
  assert.deepEqual(restoreWays(all), ["new", "session", "text"]);
  assert.deepEqual(restoreWays({ ...all, canWrite: false }), ["text"]);
  assert.deepEqual(restoreWays({ ...all, isTrusted: false }), ["text"]);
});
