// A repository that is out to run something, to reach somebody and to write elsewhere, opened and worked in.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { sessionId } from "../session.mjs";
import { run } from "../workbench.mjs";
import { gaugeShows, tidy, writeSession } from "./flow.mjs";

export const NAME = "hostile";
export const TITLE = "a hostile repository runs nothing, reaches nobody and writes nothing";

const tests = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../../tests");
const PAGES = ["AGENTS.md", "CLAUDE.md", "MEMORY.md", ".ullage.yaml", ".mcp.json", "rules/evil.md", "evil/SKILL.md"];

let listener;
let nConnections;
let isTrusted;
let before;

/** Make it by the maker of the tests of the command line, which needs a Python with their libraries. */
export async function prepare(workbench, { python, isRestricted = false }) {
  isTrusted = !isRestricted;
  nConnections = 0;
  listener = createServer((socket) => {
    nConnections += 1;
    socket.destroy();
  });
  await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { workspace } = workbench;
  const address = `http://127.0.0.1:${listener.address().port}`;
  run(python, ["-m", "siege.hostile_repository", workspace, outside(workbench), address], { env: { ...process.env, PYTHONPATH: tests } });
  // Whoever trusts a folder lets it name an interpreter and tasks: the editor runs them.
  if (isTrusted) rmSync(path.join(workspace, ".vscode"), { recursive: true });
  mkdirSync(path.join(workbench.home, ".claude"));
  writeSession(workbench, { id: sessionId(9), usedTokens: 182_000 });
  before = { workspace: contents(workspace), outside: contents(outside(workbench)) };
}

export async function go(workbench, { say, shot }) {
  const { page, workspace } = workbench;
  await gaugeShows(workbench, "91%");
  assert.equal(await page.locator(".statusbar-item", { hasText: "Restricted Mode" }).count(), isTrusted ? 0 : 1);
  for (const name of PAGES) await workbench.openFile(name);
  await workbench.openFile(path.join(workspace, "sessions/pi.jsonl"));
  await page.locator(".codelens-decoration", { hasText: "%" }).first().waitFor();
  await shot(`hostile-transcript-${isTrusted ? "trusted" : "restricted"}`);
  await workbench.command("Context: Focus on Memory View");
  await workbench.row("AGENTS.md").waitFor();
  await workbench.command("Context: Show Status");
  await page.locator(".view-lines", { hasText: "182" }).first().waitFor();
  if (isTrusted) await work(workbench);
  await shot(`hostile-${isTrusted ? "trusted" : "restricted"}`);
  await tidy(workbench);

  assert.deepEqual(contents(outside(workbench)), before.outside, "something ran, or was written outside");
  assert.deepEqual(contents(workspace), before.workspace, "the repository was written to");
  assert.equal(nConnections, 0, "somebody was reached");
  listener.close();
  say(`${Object.keys(before.workspace).length} files of the repository, none run, none changed; no connection`);
}

/** Do what only a trusted folder offers. */
async function work(workbench) {
  const { page } = workbench;
  await workbench.command("Context: Write Checkpoint");
  await workbench.told("cp_001");
  await workbench.command("Context: Search Memory…");
  await page.locator(".quick-input-widget input[placeholder='When did we decide…']").waitFor();
  await page.keyboard.type("What is always sent?");
  await page.locator(".quick-input-widget .monaco-list-row", { hasText: "Always send" }).first().waitFor();
  await page.keyboard.press("Escape");
  await workbench.command("Context: Compact Session…");
  await page.locator(".codelens-decoration", { hasText: "Apply" }).first().waitFor();
}

function outside({ root }) {
  return path.join(root, "outside");
}

/** Return what each file below a folder holds, and where each link leads. */
function contents(folder) {
  const files = {};
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = path.join(folder, name);
    const status = lstatSync(file);
    if (status.isSymbolicLink()) files[name] = readlinkSync(file);
    else if (status.isFile()) files[name] = createHash("sha256").update(readFileSync(file)).digest("hex");
  }
  return files;
}
