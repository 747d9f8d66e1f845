import assert from "node:assert/strict";
import { test } from "node:test";
import { sessionRoots } from "../../src/model/agents";

test("without variables, the folders are below the home directory", () => {
  const folders = sessionRoots({}, "/home/me");
  assert.ok(folders.includes("/home/me/.claude/projects"));
  assert.ok(folders.includes("/home/me/.pi/agent/sessions"));
  assert.ok(folders.includes("/home/me/.codex/archived_sessions"));
  assert.ok(folders.includes("/home/me/.gemini/tmp"));
  assert.ok(folders.includes("/home/me/.local/share/opencode"));
});

test("a variable names another folder, and an empty one none", () => {
  assert.ok(sessionRoots({ CODEX_HOME: "/data/codex" }, "/home/me").includes("/data/codex/sessions"));
  assert.ok(sessionRoots({ CODEX_HOME: "~/codex" }, "/home/me").includes("/home/me/codex/sessions"));
  assert.deepEqual(sessionRoots({ CODEX_HOME: "" }, "/home/me"), sessionRoots({}, "/home/me"));
});

test("of an agent's rules the first that applies counts", () => {
  const folders = sessionRoots({ PI_CODING_AGENT_SESSION_DIR: "/s", PI_CODING_AGENT_DIR: "/a" }, "/home/me");
  assert.ok(folders.includes("/s"));
  assert.ok(!folders.some((folder) => folder.startsWith("/a")));
});
