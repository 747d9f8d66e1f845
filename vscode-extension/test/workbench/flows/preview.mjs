// A compaction beside what it replaces: edited, checked, applied, and taken back.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { sessionId } from "../session.mjs";
import { until } from "../workbench.mjs";
import { forget, gaugeBelow, gaugeShows, textOf, tidy, writeSession } from "./flow.mjs";

export { agentIsThere as prepare } from "./flow.mjs";

export const NAME = "preview";
export const TITLE = "a compaction is previewed, edited, applied and undone";

const RULE = "Never change the public API";
const SAID = "Use exponential backoff";
const SAID_WORD = "exponential";
const EDIT = "Support was told on Friday.";

export async function go(workbench, { say, shot }) {
  const transcript = writeSession(workbench, { id: sessionId(2), usedTokens: 182_000 });
  await gaugeShows(workbench, "91%");
  const before = readFileSync(transcript);
  await show(workbench, { say, shot });
  assert.ok(readFileSync(transcript).equals(before), "a preview writes nothing into the session");
  await loseAndKeep(workbench, { say, shot });
  await apply(workbench, transcript, before, { say, shot });
  await undo(workbench, transcript, before, { say, shot });
  await tidy(workbench);
  forget(transcript);
}

async function show(workbench, { say, shot }) {
  const { page } = workbench;
  await workbench.command("Context: Compact Session…");
  await proposed(workbench).locator(".view-lines", { hasText: "##" }).waitFor();
  const lens = page.locator(".codelens-decoration", { hasText: "Apply" }).first();
  await lens.waitFor();
  say(`preview: ${(await groupOf(page, "proposed.md").locator(".tab.active").innerText()).trim()}; lenses: ${await textOf(lens)}`);
  await shot("preview");
  await follow(workbench, { say, shot });
}

/** The messages beside the proposal follow the line with the cursor. */
async function follow(workbench, { say, shot }) {
  const source = groupOf(workbench.page, "before.md").locator(".view-line", { hasText: SAID_WORD });
  assert.equal(await source.count(), 0);
  await goTo(workbench, SAID);
  await source.first().waitFor();
  say(`beside “${SAID}”: ${await textOf(source.first())}`);
  await shot("preview-source");
}

async function goTo(workbench, text) {
  const { page } = workbench;
  await page.keyboard.press("Control+Home");
  const find = await workbench.show(proposed(workbench).locator(".find-widget.visible textarea"), () => page.keyboard.press("Control+F"));
  await find.fill(text);
  await page.keyboard.press("Enter");
  // The first Escape may close a notification.
  await until("the find widget to close", async () => {
    await page.keyboard.press("Escape");
    return (await proposed(workbench).locator(".find-widget.visible").count()) === 0;
  });
}

function groupOf(page, file) {
  return page.locator(".editor-group-container", { has: page.locator(".tab.active", { hasText: file }) });
}

function proposed({ page }) {
  return groupOf(page, "proposed.md").locator(".editor-instance");
}

/** A rule of the user is deleted: the finding says what would be lost, and its fix puts it back. */
async function loseAndKeep(workbench, { say, shot }) {
  const { page } = workbench;
  await goTo(workbench, RULE);
  await page.keyboard.press("Control+Shift+K");
  const lens = await workbench.topLens(/would lose 1 constraint/);
  say(`lenses: ${await textOf(lens)}`);
  await workbench.command("Problems: Focus on Problems View");
  const lost = page.locator(".markers-panel .monaco-list-row", { hasText: RULE }).first();
  await lost.waitFor();
  say(`finding: ${await textOf(lost)}`);
  await shot("preview-lost");
  await page.keyboard.press("Control+2");
  say(`fix: ${await workbench.fixNext("Insert")}`);
  await shot("preview-fix");
  await page.keyboard.press("Enter");
  await lost.waitFor({ state: "hidden" });
  await workbench.command("View: Hide Panel");
}

/** The user's own words go into the session, and nothing else of it is touched. */
async function apply(workbench, transcript, before, { say, shot }) {
  const { page } = workbench;
  // The panel that was hidden gives the focus back in its own time: keys until then are lost.
  await proposed(workbench).locator(".monaco-editor.focused, .monaco-editor textarea:focus, .native-edit-context:focus").first().waitFor({ state: "attached" });
  await page.keyboard.press("Control+Home");
  await page.locator(".statusbar-item", { hasText: "Ln 1, Col 1" }).first().waitFor();
  // The first goes to where the line wraps.
  await page.keyboard.press("End");
  await page.keyboard.press("End");
  await page.keyboard.type(`\n\n${EDIT}\n`);
  await proposed(workbench).locator(".view-lines", { hasText: EDIT }).waitFor();
  await workbench.topLens("Apply");
  await shot("preview-edited");
  await workbench.command("Context: Apply Compaction");
  const told = await workbench.told(/compacted/i);
  const after = readFileSync(transcript);
  assert.ok(after.subarray(0, before.length).equals(before), "what was in the transcript is still there");
  const added = after.subarray(before.length).toString("utf8").trimEnd().split("\n");
  assert.equal(added.length, 1);
  assert.equal(JSON.parse(added[0]).type, "compaction");
  assert.ok(JSON.parse(added[0]).summary.includes(EDIT), "the edited text is the summary");
  assert.ok(JSON.parse(added[0]).summary.includes(RULE), "the rule is in it");
  say(`told: ${told}; gauge ${await gaugeBelow(workbench, 80)}`);
  await shot("compacted");
}

async function undo(workbench, transcript, before, { say, shot }) {
  await workbench.answer(/compacted/i, "Undo");
  say(`told: ${await workbench.told("Undone")}`);
  await gaugeShows(workbench, "91%");
  assert.ok(readFileSync(transcript).subarray(0, before.length).equals(before), "what was in the transcript is still there");
  await shot("undone");
}
