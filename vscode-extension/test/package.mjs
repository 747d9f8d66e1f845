// What is in the package, and how large it is: a file that slips in, or one that is missing, is found before a user does.
//   node test/package.mjs     after npm run package, which runs it
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { listFiles } from "@vscode/vsce";

/** Chosen: what it has (3.3 MB, most of it the tokenizers' tables), and half as much again. */
const MAX_SIZE_BYTES = 5_000_000;
/** Chosen: what is read at every start of the editor (60 kB), doubled; the language client alone has 430 kB. */
const MAX_START_BYTES = 120_000;

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const expected = [
  "CHANGELOG.md",
  "LICENSE",
  "README.md",
  "bundled/checkpoint.schema.json",
  "bundled/config.schema.json",
  `bundled/ullage-${version}-py3-none-any.whl`,
  "dist/NOTICES.txt",
  "dist/extension.js",
  "dist/serverConnection.js",
  "images/container.svg",
  "images/icon.png",
  ...readdirSync("images/walkthrough").map((name) => `images/walkthrough/${name}`),
  "package.json",
  "package.nls.json",
  ...readdirSync("syntaxes").map((name) => `syntaxes/${name}`),
];
assert.deepEqual((await listFiles({ cwd: process.cwd() })).sort(), expected.sort());
const { size } = statSync("ullage.vsix");
assert.ok(size < MAX_SIZE_BYTES, `ullage.vsix has ${size} bytes`);
const start = statSync("dist/extension.js").size;
assert.ok(start < MAX_START_BYTES, `dist/extension.js has ${start} bytes: is the language client in it?`);
const notices = readFileSync("dist/NOTICES.txt", "utf8");
assert.ok(notices.includes("vscode-languageclient"), "the licenses of what is in the bundle are there");
console.log(`ullage.vsix: ${expected.length} files, ${(size / 1e6).toFixed(1)} MB`);
