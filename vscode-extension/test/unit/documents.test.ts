import assert from "node:assert/strict";
import { test } from "node:test";
import { isKnownToServer, withoutText } from "../../src/model/documents";

test("a transcript is announced without its text, and stays the document that it is", () => {
  const document = { uri: "file:///s.jsonl", version: 3, getText: () => "secret" };
  const view = withoutText(document);
  assert.equal(view.getText(), "");
  assert.equal(view.uri, document.uri);
  assert.equal(view.version, 3);
  assert.equal(document.getText(), "secret");
});

test("the text of transcripts and of the server's own documents is not sent to it", () => {
  const isKnown = (path: string, scheme = "file"): boolean => isKnownToServer({ scheme, path });
  assert.equal(isKnown("/s/a.jsonl"), true);
  assert.equal(isKnown("/home/.gemini/tmp/x/chats/session-2026.json"), true);
  assert.equal(isKnown("/s/AGENTS.md"), false);
  assert.equal(isKnown("/s/package.json"), false);
  assert.equal(isKnown("/Context.md", "ullage"), true);
});
