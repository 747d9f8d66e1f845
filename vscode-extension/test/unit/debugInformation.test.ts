import assert from "node:assert/strict";
import { test } from "node:test";
import { debugText, type DebugFacts } from "../../src/model/debugInformation";

const facts: DebugFacts = {
  extensionVersion: "0.1.0",
  editorVersion: "Code 1.100.0",
  platform: "linux x64",
  remote: undefined,
  isTrusted: false,
  nFolders: 1,
  serverState: "running",
  serverVersion: "0.1.0",
  commandLine: "/home/ann/.venv/bin/python -m ullage lsp",
  settings: { isTrusted: false },
};

test("the home folder, and with it the user's name, is left out", () => {
  const text = debugText(facts, "/home/ann");
  assert.ok(text.includes("~/.venv/bin/python"));
  assert.equal(text.includes("ann"), false);
});

test("a home folder of Windows is left out of JSON too", () => {
  const home = "C:\\Users\\ann";
  const text = debugText({ ...facts, commandLine: `${home}\\py.exe`, settings: { path: `${home}\\x` } }, home);
  assert.equal(text.includes("ann"), false);
});

test("what is not known is said", () => {
  const text = debugText({ ...facts, serverVersion: undefined, commandLine: undefined }, "");
  assert.ok(text.includes("server unknown") && text.includes("Started with: nothing"));
});
