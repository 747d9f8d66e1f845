// The wrong Python: too old, none, without the server; each is said where it is missed, and mended there. Then a server that is killed.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { sessionId } from "../session.mjs";
import { GAUGE, gaugeShows, nameFile, textOf, tidy, writeSession } from "./flow.mjs";

export const NAME = "python";
export const TITLE = "what is wrong with the Python is said where the gauge is missed, and mended there; a killed server comes back";

const OLD_ANSWER = { python: "3.9.18", server: null, problem: "ModuleNotFoundError: No module named 'ullage'" };
/** So many within three minutes are enough, as `src/model/crashes.ts` has it. */
const MAX_CRASHES = 5;
const INSTALLATION = ".statusbar-item[id$='ullage.installation']";

let good;
let old;
let none;

export function prepare(workbench, { python }) {
  good = python;
  writeSession(workbench, { id: sessionId(15), usedTokens: 84_000 });
  const folder = path.join(workbench.root, "bin");
  mkdirSync(folder);
  old = path.join(folder, "python3");
  // It answers what a 3.9 answers: a machine may have none.
  writeFileSync(old, `#!/bin/sh\nprintf '%s\\n' '${JSON.stringify({ ...OLD_ANSWER, path: old }).replaceAll("'", "'\\''")}'\n`);
  none = path.join(workbench.root, "notes.txt");
  writeFileSync(none, "Not a program.\n");
  for (const file of [old, none]) chmodSync(file, 0o755);
  // Editors ask the login shell for it.
  writeFileSync(path.join(workbench.home, ".profile"), `export PATH=${folder}\n`);
}

export async function go(workbench, { say, shot }) {
  const { page } = workbench;
  const oldest = `Found Python 3.9.18 at ${old}; Ullage needs 3.11 or newer.`;
  const told = await workbench.told("Ullage needs");
  assert.ok(told.startsWith(oldest), told);
  say(`told: ${told}`);
  assert.ok((await textOf(await workbench.itemHover(INSTALLATION, "3.9.18"))).startsWith(oldest));
  assert.ok((await label(page, INSTALLATION)).startsWith(`Python needed for Ullage. ${oldest}`));
  await shot("python-old");
  say(`view: ${await view(workbench, `Found Python 3.9.18 at ${old}`)}`);
  await shot("python-old-view");
  await choose(workbench, "Ullage needs", good);
  await gaugeShows(workbench, "42%");
  assert.equal(await page.locator(INSTALLATION).count(), 0);
  await shot("python-mended");

  for (const [wrong, said, name] of [[none, `no Python runs at ${none}`, "none"], [old, `Python 3.9.18 at ${old} is too old, 3.11 or newer is needed`, "old-chosen"]]) {
    await setInterpreter(workbench, wrong);
    say(`told: ${await workbench.told(said)}`);
    const { label } = await gaugeShows(workbench, "?");
    assert.ok(label.includes(said), label);
    say(`hover: ${await textOf(await workbench.itemHover(GAUGE, said))}`);
    await shot(`python-${name}`);
    say(`view: ${await view(workbench, said)}`);
    await shot(`python-${name}-view`);
    if (name === "none") await setInterpreter(workbench, good);
    else await choose(workbench, said, good);
    await gaugeShows(workbench, "42%");
    await workbench.notification(said).waitFor({ state: "detached" });
  }
  await killed(workbench, { say, shot });
  await tidy(workbench);
}

async function label(page, item) {
  return page.locator(`${item} a`).getAttribute("aria-label");
}

/** Return what the Window view says in place of its rows; beside its name stands what was found. */
async function view(workbench, found) {
  await workbench.command("Context: Focus on Window View");
  const pane = workbench.page.locator(".pane", { has: workbench.page.locator(".pane-header", { hasText: "Window" }) });
  await pane.locator(".pane-header", { hasText: found }).waitFor();
  const shown = pane.locator(".welcome-view").first();
  await shown.locator(".monaco-button").first().waitFor();
  return textOf(shown);
}

/** Choose an interpreter by the button of a notification. */
async function choose(workbench, text, interpreter) {
  await workbench.answer(text, "Choose Interpreter");
  await nameFile(workbench, interpreter);
}

async function setInterpreter(workbench, interpreter) {
  const { page } = workbench;
  const input = page.locator(".settings-editor .setting-item-contents input:focus");
  await workbench.reach("the setting", input, "Tab", async () => {
    await workbench.command("Context: Open Interpreter Setting");
    await page.locator(".settings-editor .setting-item-contents", { hasText: "Interpreter" }).first().waitFor();
  });
  await input.fill(interpreter);
  await page.keyboard.press("Enter");
}

/** It comes back by itself, without a word; one that is killed again and again is left alone, until it is started. */
async function killed(workbench, { say, shot }) {
  const { page } = workbench;
  for (let n = 1; n < MAX_CRASHES; n += 1) {
    process.kill(serverId(workbench), "SIGKILL");
    const { label } = await gaugeShows(workbench, "?");
    if (n === 1) {
      say(`killed: ${label}`);
      await shot("server-killed");
    }
    await gaugeShows(workbench, "42%");
    assert.equal(await page.locator(".notification-toast").count(), 0, "a server that is back needs no word");
  }
  process.kill(serverId(workbench), "SIGKILL");
  say(`told: ${await workbench.told("is not started again")}`);
  say(`item: ${(await gaugeShows(workbench, "?")).label}`);
  say(`hover: ${await textOf(await workbench.itemHover(GAUGE, "Ullage"))}`);
  await shot("server-stopped");
  await page.keyboard.press("Enter");
  await gaugeShows(workbench, "42%");
  await workbench.notification("is not started again").waitFor({ state: "detached" });
  await shot("server-back");
}

/** The process of the window's server. */
function serverId({ home }) {
  const read = (id, name) => readFileSync(`/proc/${id}/${name}`, "utf8").split("\0");
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).find((id) => {
    try {
      return read(id, "cmdline").slice(-4, -1).join(" ") === "-m ullage lsp" && read(id, "environ").includes(`HOME=${home}`);
    } catch {
      return false; // It has ended.
    }
  });
}
