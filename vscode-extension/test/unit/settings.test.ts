import assert from "node:assert/strict";
import { test } from "node:test";
import { setValue } from "../../src/model/settings";

test("a workspace that is trusted is heard before its user, and takes back by null what the user set", () => {
  const said = { globalValue: 1_000_000, workspaceValue: 200_000 };
  assert.equal(setValue(said, true), 200_000);
  assert.equal(setValue(said, false), 1_000_000);
  assert.equal(setValue({ globalValue: 1_000_000, workspaceValue: null }, true), null);
  assert.equal(setValue({ globalValue: 1_000_000 }, true), 1_000_000);
  assert.equal(setValue(undefined, true), undefined);
});
