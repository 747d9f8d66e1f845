import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as protocol from "../../src/protocol";

// npm runs the tests in the folder of package.json.
const manifestText = readFileSync("package.json", "utf8");
const manifest = JSON.parse(manifestText) as { contributes: { commands: { command: string }[] } };
const strings = JSON.parse(readFileSync("package.nls.json", "utf8")) as Record<string, string>;
const commands = manifest.contributes.commands.map(({ command }) => command);

test("every contributed string is translatable, and no translation is left over", () => {
  const keys = [...manifestText.matchAll(/"%([^"]+)%"/g)].map((match) => match[1] ?? "");
  assert.deepEqual([...new Set(keys)].sort(), Object.keys(strings).sort());
});

test("every contributed command is registered, and every registered command is contributed", () => {
  const source = readFileSync("src/extension.ts", "utf8");
  const registered = [...source.matchAll(/register\("([^"]+)"/g)].map((match) => match[1] ?? "");
  assert.deepEqual(registered.sort(), [...commands].sort());
});

test("no command of the extension has the name of a command of the server", () => {
  // The language client registers the server's commands in the editor: the same name twice is an error.
  const ofServer = Object.entries(protocol).flatMap(([name, value]) => (name.endsWith("_COMMAND") ? [value] : []));
  assert.ok(ofServer.length > 0);
  assert.deepEqual(commands.filter((command) => ofServer.some((name) => name === command)), []);
});

test("the README names every command and every setting", () => {
  const readme = readFileSync("README.md", "utf8");
  for (const [key, title] of Object.entries(strings).filter(([key]) => key.startsWith("command."))) {
    assert.ok(readme.includes(`Context: ${title}`), key);
  }
  for (const key of Object.keys(strings).filter((name) => name.startsWith("setting."))) {
    assert.ok(readme.includes(`\`ullage.${key.split(".")[1] ?? ""}\``), key);
  }
});
