import assert from "node:assert/strict";
import { test } from "node:test";
import { beginsAsSession, isBelow } from "../../src/model/sessionFile";

test("the first line of a session says so, in each agent's words", () => {
  for (const line of [
    '{"type":"session","version":3,"id":"1"}',
    '{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{}}',
    '{"parentUuid":null,"sessionId":"1","type":"user"}',
    '\ufeff{ "type" : "session" }',
  ]) {
    assert.ok(beginsAsSession(`${line}\n{"a":1}`), line);
  }
});

test("other lines of JSON are no session, whatever follows them", () => {
  for (const line of ['{"prompt":"x","completion":"y"}', '["type", "session"]', '[{"type":"session"}]', '"sessionId"', "", '{"type":"sessions"}', '{"sessionId":7}']) {
    assert.equal(beginsAsSession(`${line}\n{"type":"session"}`), false, line);
  }
});

test("a file is below a folder by whole names", () => {
  assert.ok(isBelow("/home/me/.claude/projects/x/1.jsonl", ["/home/me/.codex/sessions", "/home/me/.claude/projects"]));
  assert.ok(isBelow("C:\\Users\\me\\.claude\\projects\\1.jsonl", ["C:\\Users\\me/.claude/projects"]));
  assert.equal(isBelow("/home/me/.claude/projects2/1.jsonl", ["/home/me/.claude/projects"]), false);
});
