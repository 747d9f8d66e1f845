// A folder that nobody has trusted: reading only.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { SESSION_ID } from "../session.mjs";
import { gaugeShows, writeSession } from "./flow.mjs";

export const NAME = "restricted";
export const TITLE = "in Restricted Mode everything is shown and nothing is written";

let transcript;

export function prepare(workbench) {
  transcript = writeSession(workbench, { id: SESSION_ID, usedTokens: 182_000 });
}

export async function go(workbench, { say, shot }) {
  const { page } = workbench;
  const before = readFileSync(transcript);
  const gauge = await gaugeShows(workbench, "91%");
  await page.locator(".statusbar-item", { hasText: "Restricted Mode" }).waitFor();
  say(`gauge: ${gauge.text} (${gauge.label})`);
  await workbench.command("Context: Show Status");
  await page.locator(".view-lines", { hasText: "182" }).first().waitFor();
  await shot("restricted");

  // The palette does not offer what would write.
  await page.keyboard.press("F1");
  const box = page.locator(".quick-input-widget input");
  await box.waitFor();
  await box.fill(">Context: ");
  await page.locator(".quick-input-widget .monaco-list-row", { hasText: "Context: Show Status" }).first().waitFor();
  const offered = await page.locator(".quick-input-widget .monaco-list-row").allInnerTexts();
  for (const writing of ["Compact Session", "Prune Tool Results", "Write Checkpoint", "Restore Checkpoint", "Undo"]) {
    assert.ok(!offered.some((row) => row.includes(writing)), `${writing} is offered in Restricted Mode`);
  }
  await shot("restricted-palette");
  await page.keyboard.press("Escape");
  assert.ok(readFileSync(transcript).equals(before), "nothing was written");
}
