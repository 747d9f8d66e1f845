import assert from "node:assert/strict";
import { test } from "node:test";
import { healthItem } from "../../src/model/health";

test("what is wrong is an error with a command that mends it", () => {
  const stopped = healthItem({ state: "stopped", detail: "" }, false);
  assert.deepEqual([stopped.severity, stopped.command], ["error", "ullage.restartServer"]);
  const absent = healthItem({ state: "not installed", detail: "" }, false);
  assert.deepEqual([absent.severity, absent.command], ["error", "ullage.installServer"]);
  const old = healthItem({ state: "no python", detail: "" }, false);
  assert.deepEqual([old.severity, old.command], ["error", "ullage.installServer"]);
  const missing = healthItem({ state: "no interpreter", detail: "" }, false);
  assert.deepEqual([missing.severity, missing.command], ["error", "ullage.openInterpreterSetting"]);
});

test("a server that starts or works is busy", () => {
  assert.equal(healthItem({ state: "starting", detail: "" }, false).isBusy, true);
  assert.equal(healthItem({ state: "installing", detail: "" }, false).isBusy, true);
  assert.equal(healthItem({ state: "running", detail: "" }, true).isBusy, true);
  assert.equal(healthItem({ state: "running", detail: "" }, false).isBusy, false);
  assert.equal(healthItem({ state: "stopped", detail: "" }, true).isBusy, false);
});
