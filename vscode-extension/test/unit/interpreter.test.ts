import assert from "node:assert/strict";
import { test } from "node:test";
import { readFileSync } from "node:fs";
import {
  commandLine,
  foundText,
  interpreterPath,
  isPythonNewEnough,
  isServerCompatible,
  newerInterpreters,
  OLDEST_PYTHON,
  parseAnswer,
  pathInterpreters,
} from "../../src/model/interpreter";

const tried = (platform: string): string[] => pathInterpreters(platform).map(commandLine);

test("python3 is tried before python, and on Windows the launcher", () => {
  assert.deepEqual(tried("linux"), ["python3", "python"]);
  assert.deepEqual(tried("darwin"), ["python3", "python"]);
  assert.deepEqual(tried("win32"), ["py -3", "python"]);
});

test("the oldest Python is the one that the server's package asks for, and is among those looked for", () => {
  const project = readFileSync("../pyproject.toml", "utf8");
  assert.ok(project.includes(`requires-python = ">=${OLDEST_PYTHON}"`));
  assert.ok(newerInterpreters("linux").some(({ command }) => command === `python${OLDEST_PYTHON}`));
  assert.ok(newerInterpreters("win32").some(({ args }) => args[0] === `-${OLDEST_PYTHON}`));
});

test("server and extension have the same version", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  const server = readFileSync("../server/ullage/__init__.py", "utf8");
  assert.ok(server.includes(`\n__version__ = "${version}"\n`));
});

test("versions are compared as numbers", () => {
  assert.equal(isPythonNewEnough("3.9.18"), false);
  assert.equal(isPythonNewEnough("3.10.1"), false);
  assert.equal(isPythonNewEnough("3.11.0"), true);
  assert.equal(isPythonNewEnough("3.100.0"), true);
  assert.equal(isPythonNewEnough("4.0.0"), true);
  assert.equal(isPythonNewEnough("2.7.18"), false);
});

test("a server fits when the first two numbers of its version are the extension's", () => {
  assert.equal(isServerCompatible("0.1.7", "0.1.0"), true);
  assert.equal(isServerCompatible("0.2.0", "0.1.0"), false);
  assert.equal(isServerCompatible("1.1.0", "0.1.0"), false);
  assert.equal(isServerCompatible("unknown", "0.1.0"), false);
});

test("of what an interpreter prints only the last line counts", () => {
  const answer = { python: "3.12.1", server: null, problem: "ModuleNotFoundError: No module named 'ullage'", path: "/usr/bin/python3" };
  assert.deepEqual(parseAnswer(`hello from sitecustomize\n${JSON.stringify(answer)}\r\n`), answer);
  assert.equal(parseAnswer(""), undefined);
  assert.equal(parseAnswer("[1]"), undefined);
  assert.equal(parseAnswer('{"python": 3, "server": null}'), undefined);
});

test("a Python that was found is named with its place, once whatever names lead to it", () => {
  const answer = { python: "3.9.18", server: null, problem: "", path: "/usr/bin/python3.9" };
  assert.equal(foundText([answer, answer]), "Python 3.9.18 at /usr/bin/python3.9");
  assert.equal(foundText([answer, { ...answer, python: "2.7.18", path: "" }]), "Python 3.9.18 at /usr/bin/python3.9, Python 2.7.18");
});

test("a path with spaces is one word of the command", () => {
  assert.equal(commandLine({ command: "/my venv/python", args: ["-3"] }), '"/my venv/python" -3');
});

test("a tilde at the start is the home directory", () => {
  assert.equal(interpreterPath("~/venv/bin/python", "/home/me", undefined), "/home/me/venv/bin/python");
  assert.equal(interpreterPath("/a/~/python", "/home/me", undefined), "/a/~/python");
  assert.equal(interpreterPath("~other/python", "/home/me", undefined), "~other/python");
});

test("the workspace folder is replaced as it is, whatever characters it has", () => {
  const setting = "${workspaceFolder}/.venv/bin/python";
  assert.equal(interpreterPath(setting, "/home/me", "/work/$&"), "/work/$&/.venv/bin/python");
});

test("a relative path is below the workspace folder, a name alone is on the PATH", () => {
  for (const setting of [".venv/bin/python", "venv\\Scripts\\python.exe", "./python"]) {
    assert.equal(interpreterPath(setting, "/home/me", "/work"), `/work/${setting}`);
  }
  for (const setting of ["python3.12", "/usr/bin/python3", "C:\\Python\\python.exe", "\\\\host\\share\\python.exe"]) {
    assert.equal(interpreterPath(setting, "/home/me", "/work"), setting);
  }
});

test("nothing of a folder that is not known or not trusted is run", () => {
  for (const setting of ["${workspaceFolder}/.venv/bin/python", ".venv/bin/python", "/opt/${workspaceFolder}/python"]) {
    assert.equal(interpreterPath(setting, "/home/me", undefined), undefined);
  }
});

test("blanks around a setting do not count", () => {
  assert.equal(interpreterPath("  ", "/home/me", "/work"), "");
  assert.equal(interpreterPath(" /venv/python\n", "/home/me", "/work"), "/venv/python");
});
