// Automatic mode asks first: yes, and taken back; then snoozed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { sessionId } from "../session.mjs";
import { forget, gaugeBelow, gaugeShows, grow, tidy, writeSession } from "./flow.mjs";

export { agentIsThere as prepare } from "./flow.mjs";

export const NAME = "auto";
export const TITLE = "automatic mode asks, prunes, is undone and snoozed";

export async function go(workbench, { say, shot }) {
  const transcript = writeSession(workbench, { id: sessionId(7), usedTokens: 140_000 });
  await gaugeShows(workbench, "70%");
  grow(transcript, 191_000);
  await gaugeShows(workbench, "96%");
  const before = readFileSync(transcript);
  assert.match(await workbench.told("96% used"), /would prune it now/);
  assert.ok(readFileSync(transcript).equals(before), "nothing is written before the answer");
  await workbench.answer("96% used", "Prune Now");
  say(`told: ${await workbench.told("Pruned Checkout")}; gauge ${await gaugeBelow(workbench, 96)}`);
  assert.ok(!readFileSync(transcript).equals(before), "the transcript is changed");
  await shot("auto-pruned");
  await workbench.answer("Pruned Checkout", "Undo");
  say(`told: ${await workbench.told("Undone")}`);
  await gaugeShows(workbench, "96%");
  assert.equal(await workbench.notification("96% used").count(), 0, "what was taken back is not asked again");
  await tidy(workbench);
  forget(transcript);
  await snooze(workbench, { say, shot });
}

/** A question stays on the screen when its server has ended: its button does nothing, and says so. */
async function pressTooLate(workbench, { say, shot }) {
  await workbench.command("Context: Restart Server");
  await workbench.answer("96% used", "Snooze");
  say(`told: ${await workbench.told("did nothing")}`);
  await gaugeShows(workbench, "96%");
  await shot("too-late");
  await workbench.answer("did nothing", "Show Menu…");
  await workbench.page.locator(".quick-input-widget .monaco-list-row", { hasText: "Compact…" }).waitFor();
  await workbench.page.keyboard.press("Escape");
}

async function snooze(workbench, { say, shot }) {
  const transcript = writeSession(workbench, { id: sessionId(8), usedTokens: 150_000 });
  await gaugeShows(workbench, "75%");
  grow(transcript, 164_000);
  await workbench.answer("82% used", "Snooze");
  await workbench.notification("82% used").waitFor({ state: "hidden" });
  grow(transcript, 170_000);
  await gaugeShows(workbench, "85%");
  // Of a higher band it is told all the same, and of nothing before it.
  grow(transcript, 192_000);
  say(`told: ${await workbench.told("96% used")}`);
  assert.equal(await workbench.page.locator(".notification-toast").count(), 1, "a snoozed band does not ask");
  await shot("snoozed");
  await pressTooLate(workbench, { say, shot });
  await tidy(workbench);
  forget(transcript);
}
