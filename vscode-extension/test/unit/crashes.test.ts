import assert from "node:assert/strict";
import { test } from "node:test";
import { CRASH_WINDOW_MS, Crashes, MAX_CRASHES } from "../../src/model/crashes";

test("a server that crashes now and then is started again every time", () => {
  const crashes = new Crashes();
  for (let n = 0; n < 3 * MAX_CRASHES; n += 1) {
    assert.equal(crashes.add((n * CRASH_WINDOW_MS) / (MAX_CRASHES - 1)), true);
  }
});

test("the last of many crashes within the window ends it", () => {
  const crashes = new Crashes();
  for (let n = 1; n < MAX_CRASHES; n += 1) {
    assert.equal(crashes.add(n), true);
  }
  assert.equal(crashes.add(MAX_CRASHES), false);
});
