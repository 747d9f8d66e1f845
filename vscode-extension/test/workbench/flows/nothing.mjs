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
  await workbench.command("Context: Copy Debug Information");
  await workbench.told("Copied:");
  const facts = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(facts, /Started with: nothing/);
  say(facts.split("\n", 2).join("; "));
  assert.deepEqual(workbench.servers(), []);
  assert.equal(await page.locator(GAUGE).count(), 0);
  assert.equal(await page.locator(".notification-toast").count(), 1, "nothing is told but what was asked for");
  await shot("nothing");
  // What only opens a document of the server's starts it, too.
  await workbench.command("Context: Show Status");
  const told = await workbench.told("no session of an agent");
  assert.match(told, /^no session of an agent/);
  say(`told: ${told}`);
  assert.equal(workbench.servers().length, 1);
  await shot("nothing-status");
}
