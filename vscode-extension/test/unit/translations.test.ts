import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

type Texts = Record<string, string>;
const read = (file: string): Texts => JSON.parse(readFileSync(file, "utf8")) as Texts;
const languages = readdirSync(".").flatMap((name) => /^package\.nls\.(.+)\.json$/.exec(name)?.[1] ?? []);
/** Each language's texts beside the English ones, by their keys: those of the manifest, and those of the code. */
const pairs = languages.flatMap((language) => [
  { name: `package.nls.${language}`, english: read("package.nls.json"), theirs: read(`package.nls.${language}.json`) },
  { name: `bundle.l10n.${language}`, english: read("l10n/bundle.l10n.json"), theirs: read(`l10n/bundle.l10n.${language}.json`) },
]);
const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map((match) => match[0]).sort();

test("German is there, and each language has both of its files", () => {
  assert.ok(languages.includes("de"));
  const ofCode = readdirSync("l10n").flatMap((name) => /^bundle\.l10n\.(.+)\.json$/.exec(name)?.[1] ?? []);
  assert.deepEqual(ofCode.sort(), [...languages].sort());
});

test("every text is translated, and none is left over", () => {
  for (const { name, english, theirs } of pairs) {
    assert.deepEqual(Object.keys(theirs).sort(), Object.keys(english).sort(), name);
    assert.deepEqual(Object.entries(theirs).filter(([, text]) => text.trim() === ""), [], name);
  }
});

test("what is filled in, and what links run, is the same in every language", () => {
  for (const { name, english, theirs } of pairs) {
    for (const [key, text] of Object.entries(english)) {
      for (const pattern of [/\{\d+\}/g, /\(command:[^)]*\)/g, /\$\{\w+\}/g]) {
        assert.deepEqual(all(theirs[key] ?? "", pattern), all(text, pattern), `${name}: ${key}`);
      }
    }
  }
});

test("a command that a text names is called so in the palette", () => {
  for (const language of ["", ".de"]) {
    const manifest = read(`package.nls${language}.json`);
    const titles = Object.entries(manifest).flatMap(([key, title]) => (key.startsWith("command.") ? [title] : []));
    const texts = [...Object.values(read(`l10n/bundle.l10n${language}.json`)), ...Object.values(manifest)];
    const quoted = new RegExp(`["„*]${manifest["category"] ?? ""}: ([^"“*]+)["“*]`, "g");
    const named = texts.flatMap((text) => [...text.matchAll(quoted)].map((match) => match[1] ?? ""));
    assert.ok(named.length >= 10, language);
    assert.deepEqual(named.filter((title) => !titles.includes(title)), [], language);
  }
});
