import assert from "node:assert/strict";
import { test } from "node:test";
import { absentItem, gaugeItem } from "../../src/model/gauge";
import type { GaugeParams } from "../../src/protocol";

const params: GaugeParams = {
  session: { agent: "openclaw", sessionId: "s1", path: "/sessions/s1.jsonl" },
  text: "42%",
  tooltip: "84k of 200k tokens",
  level: "normal",
  label: "Context 42 percent used",
  title: "Fix double charges · pi / OpenClaw · s1",
  itemText: "42%",
  isChosen: false,
  canWrite: true,
  canNote: true,
  isAutomatic: false,
};

test("a workspace without a session shows no item", () => {
  assert.equal(gaugeItem({ ...params, session: null }, false), undefined);
});

test("the item shows the server's words behind the icon", () => {
  assert.deepEqual(gaugeItem(params, false), {
    text: "$(pulse) 42%",
    tooltip: "84k of 200k tokens",
    background: undefined,
    label: "Context 42 percent used",
  });
});

test("an estimate and an unknown figure keep their marks", () => {
  assert.equal(gaugeItem({ ...params, itemText: "~42%" }, false)?.text, "$(pulse) ~42%");
  assert.equal(gaugeItem({ ...params, itemText: "?" }, false)?.text, "$(pulse) ?");
});

test("a title draws no icon", () => {
  assert.equal(gaugeItem({ ...params, itemText: "$(error) 5%" }, false)?.text, "$(pulse) \\$(error) 5%");
});

test("without a server the item stays where a gauge stood, and leads to what mends that", () => {
  assert.deepEqual(absentItem({ state: "starting", detail: "" }, true), { text: "$(loading~spin) ?", command: "ullage.showLogs" });
  assert.deepEqual(absentItem({ state: "running", detail: "" }, true), { text: "$(loading~spin) ?", command: "ullage.showLogs" });
  assert.equal(absentItem({ state: "starting", detail: "" }, false), undefined);
  for (const wasShown of [false, true]) {
    assert.deepEqual(absentItem({ state: "stopped", detail: "" }, wasShown), { text: "$(error) ?", command: "ullage.restartServer" });
    assert.equal(absentItem({ state: "no interpreter", detail: "" }, wasShown)?.command, "ullage.openInterpreterSetting");
  }
});

test("where the server is to be installed another item speaks", () => {
  for (const state of ["not installed", "no python", "installing"] as const) {
    assert.equal(absentItem({ state, detail: "" }, true), undefined);
  }
});

test("of several agents the one that is shown is named, and a chosen session has a mark", () => {
  assert.equal(gaugeItem({ ...params, itemText: "Codex 42%", isChosen: true }, false)?.text, "$(pulse) Codex 42% $(pinned)");
});

test("only the levels warning and error have a background", () => {
  assert.equal(gaugeItem({ ...params, level: "normal" }, false)?.background, undefined);
  assert.equal(gaugeItem({ ...params, level: "warning" }, false)?.background, "statusBarItem.warningBackground");
  assert.equal(gaugeItem({ ...params, level: "error" }, false)?.background, "statusBarItem.errorBackground");
});

test("the level is told by the icon too, and a command that runs by another", () => {
  assert.equal(gaugeItem({ ...params, level: "warning" }, false)?.text, "$(warning) 42%");
  assert.equal(gaugeItem({ ...params, level: "error" }, false)?.text, "$(error) 42%");
  assert.equal(gaugeItem({ ...params, level: "error" }, true)?.text, "$(loading~spin) 42%");
});
