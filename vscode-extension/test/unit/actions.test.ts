import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLink, hoverActions, menuActions, restoreWays } from "../../src/model/actions";

const all = { isTrusted: true, canWrite: true, isAutomatic: false };
const names = (abilities: typeof all): string[] => menuActions(abilities).map(({ command }) => command);

test("the menu has at most six entries, and all with an icon", () => {
  for (const isTrusted of [true, false]) {
    for (const canWrite of [true, false]) {
      for (const isAutomatic of [true, false]) {
        const actions = menuActions({ isTrusted, canWrite, isAutomatic });
        assert.ok(actions.length > 0 && actions.length <= 6);
        assert.ok(actions.every(({ icon }) => icon !== ""));
      }
    }
  }
  assert.equal(names(all).length, 6);
});

test("an untrusted workspace is offered what reads, and nothing else", () => {
  assert.deepEqual(names({ ...all, isTrusted: false }), ["ullage.restoreCheckpoint", "ullage.showWindow"]);
});

test("a session that is only read can still have checkpoints", () => {
  assert.deepEqual(names({ ...all, canWrite: false }), [
    "ullage.writeCheckpoint",
    "ullage.restoreCheckpoint",
    "ullage.showWindow",
  ]);
});

test("automatic compaction is offered the other way round than it is", () => {
  assert.ok(names(all).includes("ullage.turnAutomaticOn"));
  assert.deepEqual(
    names({ ...all, isAutomatic: true }).filter((name) => name.includes("Automatic")),
    ["ullage.turnAutomaticOff"],
  );
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
