import assert from "node:assert/strict";
import { test } from "node:test";
import { gaugeItem } from "../../src/model/gauge";
import type { GaugeParams } from "../../src/protocol";

const params: GaugeParams = {
  session: { agent: "openclaw", sessionId: "s1", path: "/sessions/s1.jsonl" },
  text: "42%",
  tooltip: "84k of 200k tokens",
  level: "normal",
  label: "Context 42 percent used",
  canWrite: true,
  isAutomatic: false,
};

test("a workspace without a session shows no item", () => {
  assert.equal(gaugeItem({ ...params, session: null }), undefined);
});

test("the item shows the server's words behind the icon", () => {
  assert.deepEqual(gaugeItem(params), {
    text: "$(pulse) 42%",
    tooltip: "84k of 200k tokens",
    background: undefined,
    label: "Context 42 percent used",
  });
});

test("an estimate and an unknown figure keep their marks", () => {
  assert.equal(gaugeItem({ ...params, text: "~42%" })?.text, "$(pulse) ~42%");
  assert.equal(gaugeItem({ ...params, text: "?" })?.text, "$(pulse) ?");
});

test("only the levels warning and error have a background", () => {
  assert.equal(gaugeItem({ ...params, level: "normal" })?.background, undefined);
  assert.equal(gaugeItem({ ...params, level: "warning" })?.background, "statusBarItem.warningBackground");
  assert.equal(gaugeItem({ ...params, level: "error" })?.background, "statusBarItem.errorBackground");
});
