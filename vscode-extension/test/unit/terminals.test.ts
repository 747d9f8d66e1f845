import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestAncestor } from "../../src/model/terminals";

test("the nearest shell above the agent is its terminal's", () => {
  assert.equal(nearestAncestor([10, 20, undefined], [44, 20, 10, 1]), 1);
  assert.equal(nearestAncestor([10], [44, 20, 10]), 0);
});

test("an agent that runs elsewhere, or does not say where, is in none", () => {
  assert.equal(nearestAncestor([10, undefined], [44, 20]), -1);
  assert.equal(nearestAncestor([undefined], []), -1);
});
