// A session of Claude Code is chosen beside a live one of pi; pruned, compacted and undone, it stays the one that is meant.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { asClaudeCode, claudeFolderName, session, sessionId } from "../session.mjs";
import { until } from "../workbench.mjs";
import { forget, GAUGE, gaugeShows, leaveQuiet, textOf, tidy, writeSession } from "./flow.mjs";

export { agentIsThere as prepare } from "./flow.mjs";

export const NAME = "choose";
export const TITLE = "a chosen session stays the one that is meant, through a prune, a compaction and their undo";

const PI_ID = sessionId(9);
const CLAUDE_TITLE = "Fix double charges";
const CLAUDE_ID = "11111111-2222-4333-8444-0000cafe0001";
const HOUR_S = 3600;

export async function go(workbench, { say, shot }) {
  const { page } = workbench;
  const claude = writeClaudeSession(workbench);
  const pi = writeSession(workbench, { id: PI_ID, usedTokens: 84_000 });
  // Written to by a clock that is ahead: it is live all the while.
  const ahead_s = Date.now() / 1000 + HOUR_S;
  utimesSync(pi, ahead_s, ahead_s);
  const before = { pi: readFileSync(pi), claude: readFileSync(claude) };
  await gaugeShows(workbench, "42%");
  await workbench.command("Context: Compact Session…");
  await previewOf(workbench, PI_ID);
  await workbench.command("View: Close All Editors");

  await workbench.command("Context: Choose Session…");
  await page.locator(".quick-input-widget .monaco-list-row", { hasText: CLAUDE_TITLE }).waitFor();
  await shot("choose");
  await workbench.pick(CLAUDE_TITLE);
  await staysChosen(workbench, "when it was chosen");
  await shot("chosen");

  await workbench.command("Context: Prune Tool Results…");
  const box = page.locator(".quick-input-widget");
  await box.locator(".quick-input-title", { hasText: CLAUDE_TITLE }).waitFor();
  await box.locator("input[placeholder$='tokens in a copy; this one stays at 60%']").waitFor({ state: "attached" });
  await shot("choose-prune");
  await page.keyboard.press("Enter");
  const pruned = await workbench.told(/pruned/i);
  assert.match(pruned, /into a new session.* · Fix double charges · Claude Code · cafe0001/);
  await workbench.notification(/pruned/i).locator(".monaco-button", { hasText: "Resume in Terminal" }).waitFor();
  say(`told: ${pruned}`);
  await shot("choose-pruned");
  await staysChosen(workbench, "after the prune");
  await takeBack(workbench, "prune", claude, { say });

  await workbench.command("Context: Compact Session…");
  await previewOf(workbench, CLAUDE_ID);
  await choosePreview(workbench, "Show Compaction Preview", PI_ID, 2, { shot });
  await previewOf(workbench, PI_ID);
  // The messages beside Claude Code's proposal, while pi's preview was shown last.
  await workbench.show(page.locator(".editor-group-container.active .tab.active", { hasText: "before.md" }), () => page.keyboard.press("Control+1"));
  await page.keyboard.press("Alt+1");
  await page.locator(".editor-group-container.active .tab:first-child.active").waitFor();
  await workbench.command("Context: Apply Compaction");
  const compacted = await workbench.told(/compacted/i);
  assert.match(compacted, /into a new session.* · Fix double charges · Claude Code · cafe0001/);
  say(`told: ${compacted}`);
  await choosePreview(workbench, "Discard Compaction Preview", PI_ID, 1, { shot });
  const discarded = await workbench.told(/discarded/);
  assert.ok(discarded.endsWith(PI_ID.slice(-8)));
  say(`told: ${discarded}`);
  await staysChosen(workbench, "after the compaction");
  await shot("choose-compacted");
  await takeBack(workbench, "compaction", claude, { say });

  assert.ok(readFileSync(pi).equals(before.pi), "the other agent's session is as it was");
  assert.ok(readFileSync(claude).equals(before.claude), "the session that runs is as it was");
  await workbench.command("Context: Choose Session…");
  await workbench.pick("Follow the Live Session");
  await gaugeShows(workbench, "42%");
  assert.equal(await page.locator(`${GAUGE} .codicon-pinned`).count(), 0);
  await tidy(workbench);
  forget(pi);
  rmSync(path.dirname(claude), { recursive: true });
}

/** Wait for the preview of a session in the active editor. */
async function previewOf({ page }, id) {
  const editor = page.locator(".editor-group-container.active", { has: page.locator(".tab.active", { hasText: "proposed.md" }) });
  await editor.locator(".codelens-decoration", { hasText: id.slice(-8) }).waitFor();
}

/** From an editor that is of no preview, none is meant: the one is chosen by its session. */
async function choosePreview(workbench, command, id, nKept, { shot }) {
  const { page } = workbench;
  // No extension of the editor's own begins to work for it.
  const notes = path.join(workbench.workspace, "notes.txt");
  writeFileSync(notes, "Tell support.\n");
  await workbench.openFile(notes);
  await workbench.command(`Context: ${command}`);
  await page.locator(".quick-input-widget .quick-input-title", { hasText: "Choose Compaction Preview" }).waitFor();
  const rows = page.locator(".quick-input-widget .monaco-list-row");
  await until(`${nKept} previews in the list`, async () => (await rows.count()) === nKept);
  await shot(`choose-of-${nKept}-previews`);
  await workbench.pick(id.slice(-8));
}

/** Take the last change back by the command without a session: the copy goes, and the chosen session stays. */
async function takeBack(workbench, what, claude, { say }) {
  await workbench.command("Notifications: Clear All Notifications");
  const copies = () => readdirSync(path.dirname(claude)).filter((name) => name.endsWith(".jsonl") && name !== path.basename(claude));
  assert.equal(copies().length, 1);
  leaveQuiet(path.join(path.dirname(claude), copies()[0]));
  await workbench.command("Context: Undo Last Change…");
  say(`asked: ${await workbench.confirm(`Undo the last ${what} of`, "Undo")}`);
  say(`told: ${await workbench.told("Undone")}`);
  await until("the copy to be gone", () => (copies().length === 0 ? true : undefined));
  await staysChosen(workbench, `after the undo of the ${what}`);
  await workbench.command("Notifications: Clear All Notifications");
}

/** The item, what it opens, the keys and the list mean the chosen session, and no copy is listed. */
async function staysChosen(workbench, when) {
  const { page } = workbench;
  const { text } = await gaugeShows(workbench, "60%");
  assert.match(text, /60% · Claude Code · Fix double charges/, when);
  await page.locator(`${GAUGE} .codicon-pinned`).waitFor();
  const title = page.locator(".quick-input-widget .quick-input-title", { hasText: CLAUDE_TITLE });
  await workbench.show(title, async () => {
    await workbench.focusItem(GAUGE);
    await page.keyboard.press("Enter");
  });
  await page.keyboard.press("Escape");
  await title.waitFor({ state: "hidden" });
  await workbench.show(title, () => page.keyboard.press("Control+Alt+U"));
  await page.keyboard.press("Escape");
  await title.waitFor({ state: "hidden" });
  await workbench.command("Context: Choose Session…");
  const rows = page.locator(".quick-input-widget .monaco-list-row");
  await rows.filter({ hasText: CLAUDE_TITLE }).waitFor();
  assert.equal(await rows.filter({ hasText: "Claude Code" }).count(), 1, when);
  assert.match(await textOf(rows.filter({ hasText: CLAUDE_TITLE })), /60%/);
  await page.keyboard.press("Escape");
}

function writeClaudeSession({ home, workspace }) {
  const { lines } = session({ cwd: workspace, usedTokens: 120_000, id: CLAUDE_ID });
  const folder = path.join(home, ".claude/projects", claudeFolderName(workspace));
  mkdirSync(folder, { recursive: true });
  const transcript = path.join(folder, `${CLAUDE_ID}.jsonl`);
  writeFileSync(transcript, asClaudeCode(lines, { cwd: workspace, id: CLAUDE_ID, title: CLAUDE_TITLE }).map((line) => `${line}\n`).join(""));
  leaveQuiet(transcript);
  return transcript;
}
