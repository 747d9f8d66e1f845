// A folder that nobody has trusted: reading only.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { sessionId } from "../session.mjs";
import { gaugeShows, grow, writeSession } from "./flow.mjs";

export const NAME = "restricted";
export const TITLE = "in Restricted Mode everything is shown and nothing is written";

let transcript;

export function prepare(workbench) {
  transcript = writeSession(workbench, { id: sessionId(1), usedTokens: 182_000 });
}

export async function go(workbench, { say, shot }) {
  const { page } = workbench;
  const gauge = await gaugeShows(workbench, "91%");
  await page.locator(".statusbar-item", { hasText: "Restricted Mode" }).waitFor();
  say(`gauge: ${gauge.text} (${gauge.label})`);
  await workbench.command("Context: Show Status");
  await page.locator(".view-lines", { hasText: "182" }).first().waitFor();
  await shot("restricted");

  // The palette does not offer what would write.
  const offered = await workbench.offered("Context: ", "Context: Show Status");
  assert.ok(offered.some((row) => row.includes("Plot Window")), offered.join("\n"));
  for (const writing of ["Compact Session", "Prune Tool Results", "Prune This", "Write Checkpoint", "Pin ", "Flush Memory", "Undo Last Change", "Turn Automatic", "Snooze"]) {
    assert.ok(!offered.some((row) => row.includes(writing)), `${writing} is offered in Restricted Mode`);
  }
  await shot("restricted-palette");
  await page.keyboard.press("Escape");
  await workbench.focusRow("Window", "91%");
  const entries = await (await workbench.rowMenu()).allInnerTexts();
  assert.deepEqual(entries.filter((entry) => !/^(Show|Plot) /.test(entry)), [], "what writes is offered in Restricted Mode");
  await shot("restricted-window");
  await page.keyboard.press("Escape");

  await workbench.openFile(transcript);
  await page.locator(".codelens-decoration", { hasText: "91%" }).first().waitFor();
  const lenses = await page.locator(".codelens-decoration a").allInnerTexts();
  assert.ok(!lenses.some((lens) => /Compact|Prune|Write|Undo/.test(lens)), `offered in Restricted Mode: ${lenses.join(" | ")}`);
  await shot("restricted-transcript");

  // The agent goes on, through a threshold: the gauge follows, and that is all.
  grow(transcript, 192_000);
  const before = readFileSync(transcript);
  await gaugeShows(workbench, "96%");
  await workbench.row("96%").waitFor();
  assert.deepEqual(stateFiles(workbench), [], "nothing is kept of a session");
  assert.ok(readFileSync(transcript).equals(before), "nothing was written");
}

/** Return what Ullage has written beside its log and its cache of token counts, which holds no text. */
function stateFiles({ home }) {
  const state = path.join(home, ".local/state/ullage");
  if (!existsSync(state)) return [];
  return readdirSync(state, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .filter((name) => !/\.log$|^tokens\.sqlite/.test(name));
}
