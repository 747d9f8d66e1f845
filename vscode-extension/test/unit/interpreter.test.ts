import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLine, expandPath, interpreterCandidates } from "../../src/model/interpreter";

const tried = (setting: string, platform: string): string[] =>
  interpreterCandidates(setting, platform).map(commandLine);

test("without a setting, python3 is tried before python", () => {
  assert.deepEqual(tried("", "linux"), ["python3", "python"]);
  assert.deepEqual(tried("", "darwin"), ["python3", "python"]);
});

test("on Windows the launcher is tried before python", () => {
  assert.deepEqual(tried("", "win32"), ["py -3", "python"]);
});

test("a setting is the only candidate, on every system", () => {
  assert.deepEqual(tried("/venv/bin/python", "linux"), ["/venv/bin/python"]);
  assert.deepEqual(tried("C:\\venv\\python.exe", "win32"), ["C:\\venv\\python.exe"]);
});

test("a path with spaces is one word of the command", () => {
  const [interpreter] = interpreterCandidates("/my venv/python", "linux");
  assert.deepEqual(interpreter, { command: "/my venv/python", args: [] });
  assert.deepEqual(tried("/my venv/python", "linux"), ['"/my venv/python"']);
});

test("a tilde at the start is the home directory", () => {
  assert.equal(expandPath("~/venv/bin/python", "/home/me", undefined), "/home/me/venv/bin/python");
  assert.equal(expandPath("/a/~/python", "/home/me", undefined), "/a/~/python");
  assert.equal(expandPath("~other/python", "/home/me", undefined), "~other/python");
});

test("the workspace folder is replaced as it is, whatever characters it has", () => {
  const setting = "${workspaceFolder}/.venv/bin/python";
  assert.equal(expandPath(setting, "/home/me", "/work/$&"), "/work/$&/.venv/bin/python");
  assert.equal(expandPath(setting, "/home/me", undefined), setting);
});

test("blanks around a setting do not count", () => {
  assert.equal(expandPath("  ", "/home/me", "/work"), "");
  assert.equal(expandPath(" /venv/python\n", "/home/me", "/work"), "/venv/python");
});
