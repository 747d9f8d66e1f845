// What a request of Claude Code holds beside its transcript, and that it waits for its user.
import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { asClaudeCode, claudeFolderName, session, sessionId } from "../session.mjs";
import { until } from "../workbench.mjs";
import { gaugeShows, leaveQuiet, textOf, tidy } from "./flow.mjs";

export const NAME = "parts";
export const TITLE = "the parts of a request that stand on the disk are shown, and that the agent waits";

const ID = "11111111-2222-4333-8444-0000cafe0002";
const UNSEEN = "Not in the messages";
const RULES = "# Rules\n\n- Run the tests before each commit.\n- Never push to the main branch.\n";

let transcript;

export function prepare({ home, workspace }) {
  const folder = path.join(home, ".claude/projects", claudeFolderName(workspace));
  mkdirSync(path.join(folder, "memory"), { recursive: true });
  writeFileSync(path.join(home, ".claude/CLAUDE.md"), "Answer in English.\n");
  writeFileSync(path.join(workspace, "CLAUDE.md"), RULES);
  const facts = Array.from({ length: 300 }, (_, n) => `- Fact ${n + 1}: the ledger of day ${n + 1} is kept.`);
  writeFileSync(path.join(folder, "memory/MEMORY.md"), `${facts.join("\n")}\n`);
  const { lines } = session({ cwd: workspace, usedTokens: 120_000, id: sessionId(12) });
  transcript = path.join(folder, `${ID}.jsonl`);
  const records = asClaudeCode(lines.slice(1), { cwd: workspace, id: ID, title: "Fix double charges" });
  writeFileSync(transcript, records.map((line) => `${line}\n`).join(""));
  leaveQuiet(transcript);
}

export async function go(workbench, { say, shot }) {
  const { page } = workbench;
  await gaugeShows(workbench, "60%");
  await workbench.focusRow("Window", UNSEEN);
  await workbench.openRow("MEMORY.md");
  for (const part of ["System prompt and tools", "CLAUDE.md", "MEMORY.md"]) say(`part: ${await textOf(workbench.row(part))}`);
  const label = await workbench.row("MEMORY.md").getAttribute("aria-label");
  assert.match(label, /Not sent: [\d,]+ characters: Claude Code loads the first 200 lines/);
  say(`said: ${label}`);
  await workbench.focusRow("Window", "MEMORY.md");
  await shot("parts");

  await workbench.openByRow("Window", "MEMORY.md", "MEMORY.md");
  const cut = page.locator(".markers-panel .monaco-list-row", { hasText: "memory-cut" }).first();
  await workbench.command("Problems: Focus on Problems View");
  await cut.waitFor();
  say(`finding: ${await textOf(cut)}`);
  await shot("parts-opened");
  await waits(workbench, { say, shot });
  await tidy(workbench);
}

/** The agent ends a turn: its user is told once, and goes to the terminal that it runs in, of two. */
async function waits(workbench, { say, shot }) {
  const { page, home } = workbench;
  const registry = path.join(home, ".claude/sessions");
  mkdirSync(registry);
  await workbench.command("Terminal: Create New Terminal");
  await page.locator(".xterm-helper-textarea:focus").waitFor({ state: "attached" });
  // The shell stands for the agent, which notes itself so.
  await page.keyboard.type(`echo '{"pid": '$$', "sessionId": "${ID}"}' > ${registry}/$$.json; touch ${home}/noted\n`);
  await until("the agent to note itself", () => existsSync(path.join(home, "noted")));
  await workbench.command("Terminal: Create New Terminal");
  const selected = (n) => page.locator(`.part.panel .monaco-list-row.selected[data-index="${n}"] .terminal-tabs-entry`);
  await selected(1).waitFor();
  await workbench.command("View: Hide Panel");

  const last = readFileSync(transcript, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line)).findLast(({ type }) => type === "assistant");
  const question = { ...last, parentUuid: last.uuid, type: "user", uuid: "00000000-0000-4000-8000-00000000aaaa", message: { role: "user", content: "And now?" } };
  const answer = { ...last, parentUuid: question.uuid, uuid: "00000000-0000-4000-8000-00000000bbbb" };
  appendFileSync(transcript, [question, answer].map((record) => `${JSON.stringify(record)}\n`).join(""));
  leaveQuiet(transcript);
  say(`told: ${await workbench.told("Done, and waits for you: Fix double charges")}`);
  await shot("waits");
  await workbench.answer("Done, and waits for you", "Go to Terminal");
  await selected(0).waitFor();
  await shot("waits-terminal");
}
