// A compaction as a diff: edited, checked, applied, and taken back.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { sessionId } from "../session.mjs";
import { until } from "../workbench.mjs";
import { gaugeBelow, gaugeShows, writeSession } from "./flow.mjs";

export const NAME = "preview";
export const TITLE = "a compaction is previewed, edited, applied and undone";

const EDIT = "Support was told on Friday.";

export async function go(workbench, { say, shot }) {
  const { page } = workbench;
  await workbench.command("View: Close All Editors");
  const transcript = writeSession(workbench, { id: sessionId(2), usedTokens: 182_000 });
  await gaugeShows(workbench, "91%");
  const before = readFileSync(transcript);

  await workbench.command("Context: Compact Session…");
  const diff = page.locator(".monaco-diff-editor .modified-in-monaco-diff-editor");
  await diff.locator(".view-lines", { hasText: "##" }).waitFor();
  await page.locator(".codelens-decoration", { hasText: "Apply" }).first().waitFor();
  say(`preview: ${(await page.locator(".tab.active").innerText()).trim()}`);
  await shot("preview");
  assert.ok(readFileSync(transcript).equals(before), "a preview writes nothing into the session");

  // A rule of the user is deleted: the finding says what would be lost, and its fix puts it back.
  await diff.click();
  await page.keyboard.press("Control+Home");
  await workbench.command("Find");
  const find = page.locator(".find-widget.visible textarea").first();
  await find.fill("Never change the public API");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await workbench.command("Delete Line");
  await workbench.command("Problems: Focus on Problems View");
  const lost = page.locator(".markers-panel .monaco-list-row", { hasText: "Never change the public API" }).first();
  await lost.waitFor();
  say(`finding: ${(await lost.innerText()).replaceAll(/\s+/g, " ").trim()}`);
  await shot("preview-lost");
  await lost.click();
  await page.keyboard.press("Control+.");
  await page.locator(".action-widget .monaco-list-row", { hasText: "Insert" }).first().waitFor();
  await page.keyboard.press("Enter");
  await lost.waitFor({ state: "hidden" });
  say("the quick fix put it back");

  // The user's own words go into the session.
  await diff.click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("End");
  await page.keyboard.type(`\n\n${EDIT}\n`);
  await shot("preview-edited");
  await workbench.command("Context: Apply Compaction");
  const told = workbench.notification("compacted").first();
  await told.waitFor();
  const after = readFileSync(transcript);
  assert.ok(after.subarray(0, before.length).equals(before), "what was in the transcript is still there");
  const added = after.subarray(before.length).toString("utf8").trimEnd().split("\n");
  assert.equal(added.length, 1);
  assert.equal(JSON.parse(added[0]).type, "compaction");
  assert.ok(JSON.parse(added[0]).summary.includes(EDIT), "the edited text is the summary");
  say(`told: ${(await told.innerText()).replaceAll(/\s+/g, " ").trim()}; gauge ${await gaugeBelow(workbench, 80)}`);
  await shot("compacted");

  await told.hover();
  await told.locator(".monaco-button", { hasText: "Undo" }).click();
  const question = page.locator(".notification-toast").filter({ has: page.locator(".monaco-button", { hasText: /^Undo/ }) });
  if (await question.first().isVisible().catch(() => false)) await question.first().locator(".monaco-button", { hasText: /^Undo/ }).click();
  await until("the undo to be written", () => readFileSync(transcript).length > after.length);
  await gaugeShows(workbench, "%");
  say("undone");
  await shot("undone");
}
