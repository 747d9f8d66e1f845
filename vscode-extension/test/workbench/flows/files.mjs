// Findings on what agents load: an instruction file that is cut off, a memory file, a key of the configuration.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { sessionId } from "../session.mjs";
import { forget, gaugeShows, textOf, tidy, writeSession } from "./flow.mjs";

export { agentIsThere as prepare } from "./flow.mjs";

export const NAME = "files";
export const TITLE = "instruction files, memory and configuration have findings";

export async function go(workbench, { say, shot }) {
  const { page, workspace } = workbench;
  const openclaw = path.join(workspace, ".openclaw");
  mkdirSync(openclaw);
  const rules = Array.from({ length: 420 }, (_, n) => `- Rule ${n + 1}: keep the tests of part ${n + 1} green before you go on.`);
  writeFileSync(path.join(workspace, "AGENTS.md"), `# Rules\n\n${rules.join("\n")}\n`);
  const facts = Array.from({ length: 500 }, (_, n) => `- Fact ${n + 1}: the ledger of day ${n + 1} is in reports/ledger-${n + 1}.csv, as support asked.`);
  writeFileSync(path.join(workspace, "MEMORY.md"), `# Memory\n\n${facts.join("\n")}\n`);
  const config = path.join(workspace, ".ullage.yaml");
  writeFileSync(config, "compaction:\n  autoEnabledd: false\n");
  const transcript = writeSession(workbench, { id: sessionId(6), usedTokens: 90_000 });
  await gaugeShows(workbench, "45%");

  await workbench.command("Problems: Focus on Problems View");
  await workbench.openFile(path.join(workspace, "AGENTS.md"));
  const cut = page.locator(".markers-panel .monaco-list-row", { hasText: /cut off|20,000/ }).first();
  await cut.waitFor();
  say(`finding: ${await textOf(cut)}`);
  await page.keyboard.press("F8");
  await page.locator(".monaco-editor .squiggly-unnecessary, .monaco-editor .squiggly-inline-unnecessary").first().waitFor({ state: "attached" });
  await shot("agents-cut-off");
  await page.keyboard.press("Escape");
  // In a small window the list has room for the findings of one file.
  await workbench.command("View: Close All Editors");

  await workbench.openFile(path.join(workspace, "MEMORY.md"));
  const memory = page.locator(".markers-panel .monaco-list-row", { hasText: "memory-cut" }).first();
  await memory.waitFor();
  say(`finding: ${await textOf(memory)}`);
  await shot("memory");
  await workbench.command("Context: Focus on Memory View");
  await workbench.row("AGENTS.md").waitFor();
  await workbench.row("MEMORY.md").waitFor();
  await shot("memory-view");

  await workbench.openFile(config);
  const typo = page.locator(".markers-panel .monaco-list-row", { hasText: "autoEnabledd" }).first();
  await typo.waitFor();
  say(`finding: ${await textOf(typo)}`);
  say(`fix: ${await workbench.fixNext("Change to autoEnabled")}`);
  await shot("config-fix");
  await page.keyboard.press("Enter");
  await typo.waitFor({ state: "hidden" });
  await page.keyboard.press("Control+S");
  await page.locator(".tab.active:not(.dirty)").waitFor();
  assert.match(readFileSync(config, "utf8"), /autoEnabled: false/);
  await tidy(workbench);
  forget(transcript);
  rmSync(openclaw, { recursive: true });
}
