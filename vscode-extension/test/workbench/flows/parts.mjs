// What a request of Claude Code holds beside its transcript: the Window view names each file and what of it is cut. By the keyboard alone.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { asClaudeCode, claudeFolderName, session, sessionId } from "../session.mjs";
import { gaugeShows, leaveQuiet, textOf, tidy } from "./flow.mjs";

export const NAME = "parts";
export const TITLE = "the parts of a request that stand on the disk are shown, cut and opened, by the keyboard alone";

const ID = "11111111-2222-4333-8444-0000cafe0002";
const UNSEEN = "Not in the messages";
const RULES = "# Rules\n\n- Run the tests before each commit.\n- Never push to the main branch.\n";

export function prepare({ home, workspace }) {
  const folder = path.join(home, ".claude/projects", claudeFolderName(workspace));
  mkdirSync(path.join(folder, "memory"), { recursive: true });
  writeFileSync(path.join(home, ".claude/CLAUDE.md"), "Answer in English.\n");
  writeFileSync(path.join(workspace, "CLAUDE.md"), RULES);
  const facts = Array.from({ length: 300 }, (_, n) => `- Fact ${n + 1}: the ledger of day ${n + 1} is kept.`);
  writeFileSync(path.join(folder, "memory/MEMORY.md"), `${facts.join("\n")}\n`);
  const { lines } = session({ cwd: workspace, usedTokens: 120_000, id: sessionId(12) });
  const transcript = path.join(folder, `${ID}.jsonl`);
  const records = asClaudeCode(lines.slice(1), { cwd: workspace, id: ID, title: "Fix double charges" });
  writeFileSync(transcript, records.map((line) => `${line}\n`).join(""));
  leaveQuiet(transcript);
}

export async function go(workbench, { say, shot }) {
  const { page } = workbench;
  await gaugeShows(workbench, "60%");
  await workbench.byKeyboard(async () => {
    await workbench.focusRow("Window", UNSEEN);
    await page.keyboard.press("ArrowRight");
    await workbench.row("MEMORY.md").waitFor();
    for (const part of ["System prompt and tools", "CLAUDE.md", "MEMORY.md"]) say(`part: ${await textOf(workbench.row(part))}`);
    const label = await workbench.row("MEMORY.md").getAttribute("aria-label");
    assert.match(label, /Not sent: [\d,]+ characters: Claude Code loads the first 200 lines/);
    say(`said: ${label}`);
    await workbench.focusRow("Window", "MEMORY.md");
    await shot("parts");
    await page.setViewportSize({ width: 560, height: 800 });
    await shot("parts-narrow");
    await page.setViewportSize({ width: 1280, height: 800 });

    await page.keyboard.press("Enter");
    await page.locator(".tab.active", { hasText: "MEMORY.md" }).waitFor();
    const cut = page.locator(".markers-panel .monaco-list-row", { hasText: "memory-cut" }).first();
    await workbench.command("Problems: Focus on Problems View");
    await cut.waitFor();
    say(`finding: ${await textOf(cut)}`);
    await shot("parts-opened");
  });
  await tidy(workbench);
}
