import assert from "node:assert/strict";
import { test } from "node:test";
import { isReadFromDisk, withoutText } from "../../src/model/documents";

test("a transcript is announced without its text, and stays the document that it is", () => {
  const document = { uri: "file:///s.jsonl", version: 3, getText: () => "secret" };
  const view = withoutText(document);
  assert.equal(view.getText(), "");
  assert.equal(view.uri, document.uri);
  assert.equal(view.version, 3);
  assert.equal(document.getText(), "secret");
});

test("transcripts are told by their names", () => {
  assert.equal(isReadFromDisk("/s/a.jsonl"), true);
  assert.equal(isReadFromDisk("/home/.gemini/tmp/x/chats/session-2026.json"), true);
  assert.equal(isReadFromDisk("/s/AGENTS.md"), false);
  assert.equal(isReadFromDisk("/s/package.json"), false);
});
