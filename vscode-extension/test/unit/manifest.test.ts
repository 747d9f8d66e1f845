import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { SERVER_SETTINGS } from "../../src/model/settings";
import * as protocol from "../../src/protocol";

// npm runs the tests in the folder of package.json.
const manifestText = readFileSync("package.json", "utf8");
interface MenuEntry {
  command: string;
  when?: string;
}
const manifest = JSON.parse(manifestText) as {
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
  contributes: {
    configuration: { properties: Record<string, { scope: string; order: number }> }[];
    commands: { command: string; enablement?: string }[];
    menus: Record<string, MenuEntry[]>;
    keybindings: MenuEntry[];
    viewsWelcome: { view: string; contents: string; when?: string }[];
  };
};
const settings = manifest.contributes.configuration.flatMap(({ properties }) => Object.entries(properties));
const strings = JSON.parse(readFileSync("package.nls.json", "utf8")) as Record<string, string>;
const sources = (readdirSync("src", { recursive: true }) as string[])
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(`src/${name}`, "utf8"));
const commands = manifest.contributes.commands.map(({ command }) => command);

test("every contributed string is translatable, and no translation is left over", () => {
  const keys = [...manifestText.matchAll(/"%([^"]+)%"/g)].map((match) => match[1] ?? "");
  assert.deepEqual([...new Set(keys)].sort(), Object.keys(strings).sort());
});

test("every contributed command is registered, and every registered command is contributed", () => {
  const source = readFileSync("src/commands.ts", "utf8");
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
    const name = /^setting\.(.*)\.description$/.exec(key)?.[1];
    assert.ok(name === undefined || readme.includes(`\`ullage.${name}\``), key);
  }
});

test("the settings page has what the server reads, and the interpreter", () => {
  const names = settings.map(([name]) => name);
  assert.deepEqual([...names].sort(), ["ullage.interpreter", ...SERVER_SETTINGS.map((name) => `ullage.${name}`)].sort());
  assert.deepEqual(
    settings.map(([, setting]) => setting.order),
    names.map((_, index) => index + 1),
  );
});

test("what decides which program runs and where text is sent is not the workspace's to say", () => {
  const scopes = Object.fromEntries(settings.map(([name, { scope }]) => [name, scope]));
  assert.equal(scopes["ullage.compaction.model.provider"], "machine");
  assert.equal(scopes["ullage.compaction.model.baseUrl"], "machine");
  const restricted = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
  assert.ok(restricted.includes("ullage.interpreter"));
  assert.deepEqual(restricted.filter((name) => !(name in scopes)), []);
});

test("Ullage speaks English throughout, as the server that words the hovers does", () => {
  const translations = readdirSync(".").filter((name) => /^package\.nls\..+\.json$/.test(name));
  assert.deepEqual([...translations, ...("l10n" in manifest ? ["l10n"] : [])], []);
  const inAnother = /env\.language|toLocale\w*\(\)|Intl\.\w+\((?!"en")/g;
  assert.deepEqual(sources.flatMap((source) => source.match(inAnother) ?? []), []);
});

test("a command that a text names is called so in the palette", () => {
  const titles = Object.entries(strings).flatMap(([key, title]) => (key.startsWith("command.") ? [title] : []));
  const named = [...sources, ...Object.values(strings)].flatMap((text) =>
    [...text.matchAll(/["*]Context: ([^"*\\]+)["*\\]/g)].map((match) => match[1] ?? ""),
  );
  assert.ok(named.length >= 10);
  assert.deepEqual(named.filter((title) => !titles.includes(title)), []);
});

test("what is hidden from the palette is in the menu of a view", () => {
  const { commandPalette = [], ...menus } = manifest.contributes.menus;
  const inMenus = Object.values(menus).flatMap((entries) => entries.map(({ command }) => command));
  const hidden = commandPalette.filter(({ when }) => when === "false").map(({ command }) => command);
  assert.ok(hidden.length > 0);
  assert.deepEqual(hidden.filter((command) => !inMenus.includes(command)), []);
});

test("every inline action is in the context menu too, which the keyboard reaches", () => {
  const entries = manifest.contributes.menus["view/item/context"] as (MenuEntry & { group: string })[];
  const isInline = ({ group }: { group: string }): boolean => group.startsWith("inline");
  const inMenu = entries.filter((entry) => !isInline(entry)).map(({ command }) => command);
  assert.deepEqual(entries.filter(isInline).filter(({ command }) => !inMenu.includes(command)), []);
});

/** What reads, shows, or is about the server; what restores asks for a way, and has only that of reading there. */
const WITHOUT_TRUST = [
  "chooseSession",
  "compareCheckpoints",
  "copyDebugInformation",
  "copyResumeText",
  "installServer",
  "openInterpreterSetting",
  "refreshViews",
  "restartServer",
  "restoreCheckpoint",
  "searchMemory",
  "showLogs",
  "showMemoryChange",
  "showMenu",
  "showPlot",
  "showPreview",
  "showSession",
  "showStatus",
  "showUsage",
  "showWindow",
].map((name) => `ullage.${name}`);

test("what is not known to read only needs a trusted workspace, wherever it is offered", () => {
  const without = manifest.contributes.commands.filter(({ enablement }) => enablement !== "isWorkspaceTrusted");
  assert.deepEqual(without.map(({ command }) => command).sort(), WITHOUT_TRUST);
  // The palette looks at the enablement itself; keys and the titles of editors do not.
  const menus = Object.entries(manifest.contributes.menus).filter(([menu]) => menu !== "commandPalette");
  const offered = [...menus.flatMap(([, entries]) => entries), ...manifest.contributes.keybindings];
  const hasTrust = ({ when = "" }: MenuEntry): boolean => /(?:^|&& )isWorkspaceTrusted\b/.test(when) && !when.includes("||");
  assert.deepEqual(offered.filter((entry) => !WITHOUT_TRUST.includes(entry.command) && !hasTrust(entry)), []);
});

test("an empty view says why it is so, and never that there is nothing before that is known", () => {
  const ofWindow = manifest.contributes.viewsWelcome.filter(({ view }) => view === "ullage.window");
  for (const state of ["not installed", "no python", "installing", "no interpreter", "stopped"]) {
    assert.equal(ofWindow.filter(({ when }) => when === `ullage.server == '${state}'`).length, 1, state);
  }
  for (const { when } of manifest.contributes.viewsWelcome.filter(({ contents }) => contents === "%welcome.window%")) {
    assert.equal(when, "ullage.hasNoSession || !ullage.server");
  }
  const ofMemory = manifest.contributes.viewsWelcome.filter(({ view }) => view === "ullage.memory");
  assert.deepEqual(ofMemory.map(({ when }) => when), ["ullage.hasNoMemory"]);
});

test("menus and keys name only commands of this extension", () => {
  const named = [...Object.values(manifest.contributes.menus).flat(), ...manifest.contributes.keybindings];
  assert.deepEqual(named.filter(({ command }) => !commands.includes(command)), []);
});
