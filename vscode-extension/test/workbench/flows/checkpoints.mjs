// Checkpoints are written, compared and restored in each of the three ways.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { sessionId } from "../session.mjs";
import { until } from "../workbench.mjs";
import { forget, gaugeShows, grow, sessionFolder, tidy, writeSession } from "./flow.mjs";

export { agentIsThere as prepare } from "./flow.mjs";

export const NAME = "checkpoints";
export const TITLE = "checkpoints are written, compared and restored three ways";

export async function go(workbench, { say, shot }) {
  const transcript = writeSession(workbench, { id: sessionId(4), usedTokens: 100_000 });
  await gaugeShows(workbench, "50%");
  await write(workbench, transcript, { say, shot });
  await compare(workbench, { say, shot });
  await restoreAsText(workbench, { say, shot });
  await restoreHere(workbench, transcript, { say, shot });
  await restoreIntoNew(workbench, { say, shot });
  await tidy(workbench);
  forget(transcript);
}

async function write(workbench, transcript, { say, shot }) {
  await workbench.command("Context: Write Checkpoint");
  say(`told: ${await workbench.told("cp_001")}`);
  grow(transcript, 110_000, "Decision: we derive the key from the order. Next: tell support.");
  await gaugeShows(workbench, "55%");
  await workbench.command("Context: Write Checkpoint");
  say(`told: ${await workbench.told("cp_002")}`);
  const written = readdirSync(path.join(workbench.home, ".local/state"), { recursive: true }).filter((name) => /cp_\d+\.yaml$/.test(name));
  assert.ok(written.length >= 2, String(written));
  await workbench.command("Notifications: Clear All Notifications");
  await workbench.focusRow("Checkpoints", "cp_002");
  await workbench.row("55%").waitFor();
  await shot("checkpoints");
}

async function compare(workbench, { say, shot }) {
  await workbench.rowCommand("Compare Checkpoints…");
  const tab = workbench.page.locator(".tab.active", { hasText: "cp_001 ↔ cp_002" });
  await tab.waitFor();
  await workbench.page.locator(".monaco-diff-editor .view-lines", { hasText: "cp_002" }).first().waitFor();
  say(`compared: ${(await tab.innerText()).trim()}`);
  await shot("compare");
}

async function restoreAsText(workbench, { say, shot }) {
  await workbench.focusRow("Checkpoints", "cp_002");
  await workbench.rowCommand("Copy Resume Text");
  say(`told: ${await workbench.told("in the clipboard")}`);
  const text = await workbench.page.evaluate(() => navigator.clipboard.readText());
  assert.match(text, /src\/payments|order/);
  await shot("restored-text");
  await workbench.command("Notifications: Clear All Notifications");
}

async function restoreHere(workbench, transcript, { say, shot }) {
  const before = readFileSync(transcript);
  await workbench.focusRow("Checkpoints", "cp_002");
  await workbench.rowCommand("Restore Checkpoint…");
  await workbench.page.locator(".quick-input-widget .monaco-list-row", { hasText: "Into This Session" }).waitFor();
  await shot("restore-ways");
  await workbench.pick("Into This Session");
  await workbench.page.locator(".monaco-dialog-box").waitFor();
  await shot("restore-question");
  say(`asked: ${await workbench.confirm("Restore checkpoint cp_002 of", "Restore")}`);
  say(`told: ${await workbench.told("cp_002 restored")}`);
  const after = readFileSync(transcript);
  assert.ok(after.length > before.length && after.subarray(0, before.length).equals(before), "it is added to the session");
  await shot("restored-here");
  await workbench.answer("cp_002 restored", "Undo");
  say(`told: ${await workbench.told("Undone")}`);
  await gaugeShows(workbench, "55%");
  await workbench.command("Notifications: Clear All Notifications");
}

async function restoreIntoNew(workbench, { say, shot }) {
  const folder = sessionFolder(workbench);
  const before = new Set(readdirSync(folder));
  await workbench.focusRow("Checkpoints", "cp_002");
  await workbench.rowCommand("Restore into New Session…");
  await workbench.confirm("Restore checkpoint cp_002 of", "Restore");
  say(`told: ${await workbench.told("cp_002 restored")}`);
  const begun = await until("the new session's file", () => readdirSync(folder).find((name) => name.endsWith(".jsonl") && !before.has(name)));
  assert.ok(existsSync(path.join(folder, begun)));
  assert.match(readFileSync(path.join(folder, begun), "utf8"), /cp_002/);
  await shot("restored-new");
  // In place of the agent: it notes where it was begun, and with what.
  const noted = path.join(workbench.home, "resumed");
  writeFileSync(path.join(workbench.home, ".bashrc"), `pi() { printf '%s\\n' "$PWD" "$@" > ${noted}.part; mv ${noted}.part ${noted}; }\n`);
  await workbench.answer("restored into a new session", "Resume in Terminal");
  await until("pi to be begun in a terminal", () => existsSync(noted));
  assert.deepEqual(readFileSync(noted, "utf8").split("\n"), [workbench.workspace, "--session", path.join(folder, begun), ""]);
  await shot("resumed");
  forget(path.join(folder, begun));
}
