import assert from "node:assert/strict";
import { test } from "node:test";
import { debugText, withoutHome, type DebugFacts } from "../../src/model/debugInformation";

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
  const text = debugText(facts, "/home/ann", true);
  assert.ok(text.includes("~/.venv/bin/python"));
  assert.equal(text.includes("ann"), false);
});

test("one folder is no folders", () => {
  const lines = [1, 2].map((nFolders) => debugText({ ...facts, nFolders }, "/home/ann", true).split("\n")[2]);
  assert.deepEqual(lines, ["Workspace: 1 folder, Restricted Mode", "Workspace: 2 folders, Restricted Mode"]);
});

test("another's folder that begins with the same letters is another folder", () => {
  assert.equal(withoutHome("/home/anna/x", "/home/ann", true), "/home/anna/x");
  assert.equal(withoutHome("/home/ann.old/x", "/home/ann", true), "/home/ann.old/x");
  assert.equal(withoutHome("/backup/home/ann/x", "/home/ann", true), "/backup/home/ann/x");
  assert.equal(withoutHome('"/home/ann" /home/ann', "/home/ann", true), '"~" ~');
  assert.equal(withoutHome("/opt/python", "/", true), "/opt/python");
});

test("a home folder of Windows is left out of JSON too, however it is written", () => {
  const home = "C:\\Users\\Ann (x)";
  for (const path of [home, home.toLowerCase(), home.replaceAll("\\", "/")]) {
    const text = debugText({ ...facts, commandLine: `"${path}\\py.exe"`, settings: { path: `${path}\\x` } }, home, false);
    assert.doesNotMatch(text, /ann/i);
  }
});

test("neither pins nor addresses are copied", () => {
  const settings = { pins: ["Never tell Bob"], "compaction.model.baseUrl": "https://me:key@host/v1", "checkpoint.retention": 7 };
  const text = debugText({ ...facts, settings }, "", true);
  assert.doesNotMatch(text, /Bob|key|host/);
  assert.ok(text.includes('"pins":"(set)"') && text.includes('"checkpoint.retention":7'));
});

test("what is not known is said", () => {
  const text = debugText({ ...facts, serverVersion: undefined, commandLine: undefined }, "", true);
  assert.ok(text.includes("server unknown") && text.includes("Started with: nothing"));
});
