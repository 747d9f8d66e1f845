// What the last session left is offered when its folder is opened: once, on its branch alone.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { sessionId } from "../session.mjs";
import { until } from "../workbench.mjs";
import { gaugeShows, tidy, writeSession } from "./flow.mjs";

export const NAME = "offer";
export const TITLE = "the work of the last session is offered once, on its branch alone";

const OFFER = "You can go on with earlier work";

export function prepare(workbench) {
  checkOut(workbench, "main");
  writeSession(workbench, { id: sessionId(14), usedTokens: 100_000 });
}

export async function go(workbench, { say, shot }) {
  const { page } = workbench;
  await gaugeShows(workbench, "50%");
  await workbench.command("Context: Write Checkpoint");
  await workbench.told("cp_001");
  await tidy(workbench);

  await reopen(workbench, "side");
  assert.ok(await isSilent(workbench), "the work of another branch is offered");

  // That it is offered now shows that it was not before.
  await reopen(workbench, "main");
  say(`told: ${await workbench.told(OFFER)}`);
  await shot("offer");
  await workbench.answer(OFFER, "Resume");
  say(`told: ${await workbench.told("is copied")}`);
  await page.locator(".tab.active", { hasText: "Resume.md" }).waitFor();
  await page.locator(".view-lines", { hasText: "support" }).first().waitFor();
  const text = await until("the text in the clipboard", () => page.evaluate(() => navigator.clipboard.readText()));
  assert.match(text, /charges a card twice/);
  await shot("offer-resumed");
  await tidy(workbench);

  await reopen(workbench, "main");
  assert.ok(await isSilent(workbench), "it is offered twice");
}

/** Let a branch be checked out, as git writes it. */
function checkOut({ workspace }, branch) {
  mkdirSync(path.join(workspace, ".git"), { recursive: true });
  writeFileSync(path.join(workspace, ".git/HEAD"), `ref: refs/heads/${branch}\n`);
}

/** Close the folder and open it on a branch. */
async function reopen(workbench, branch) {
  checkOut(workbench, branch);
  await workbench.page.reload();
  await gaugeShows(workbench, "50%");
}

/** Whether nothing is offered; what is offered at the start is there before a command is answered. */
async function isSilent(workbench) {
  const { page } = workbench;
  await workbench.command("Context: Show Status");
  await page.locator(".view-lines", { hasText: "100" }).first().waitFor();
  return (await workbench.notification(OFFER).count()) === 0;
}
