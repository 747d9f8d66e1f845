// A workspace, and a machine, without sessions: nothing is started, nothing is shown.
import assert from "node:assert/strict";
import { GAUGE, textOf } from "./flow.mjs";

export const NAME = "nothing";
export const TITLE = "without sessions there is no server, no item and no notification";

export async function go(workbench, { say, shot }) {
  const { page } = workbench;
  // The editor itself says when the extension was activated, and how long that took.
  await workbench.command("Developer: Show Running Extensions");
  const activation = page.locator(".runtime-extensions-editor .monaco-list-row", { hasText: "Ullage" }).locator(".activation-time", { hasText: /\d+ms/ });
  await activation.waitFor();
  say(await textOf(activation));
  // Its command is answered: what it looked for at its start is over.
  await workbench.command("Context: Show Logs");
  const output = page.locator(".output-view .view-lines, .output-view-body .view-lines, .panel .monaco-editor .view-lines").first();
  await output.waitFor({ state: "attached" });
  assert.equal(await textOf(output), "", "nothing was worth a line of the log");
  assert.deepEqual(workbench.servers(), []);
  assert.equal(await page.locator(GAUGE).count(), 0);
  assert.equal(await page.locator(".notification-toast").count(), 0);
  await shot("nothing");
}
