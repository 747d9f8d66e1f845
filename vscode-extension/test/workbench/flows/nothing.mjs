// A workspace, and a machine, without sessions: nothing is started, nothing is shown.
import assert from "node:assert/strict";
import { until } from "../workbench.mjs";
import { GAUGE } from "./flow.mjs";

export const NAME = "nothing";
export const TITLE = "without sessions there is no server, no item and no notification";

export async function go(workbench, { say, shot }) {
  const { page } = workbench;
  const log = await until("the extension to be activated", () =>
    /_doActivateExtension ullage\.ullage.*/.exec(workbench.log("remoteexthost.log"))?.[0],
  );
  say(log);
  // Its command is answered: the activation, and what it looked for, are over.
  await workbench.command("Context: Show Logs");
  await page.locator(".panel .output-view, .panel .editor-instance, .panel .monaco-editor").first().waitFor();
  assert.deepEqual(workbench.servers(), []);
  assert.equal(workbench.log("Ullage.log").trim(), "", "nothing was worth a line of the log");
  assert.equal(await page.locator(GAUGE).count(), 0);
  assert.equal(await page.locator(".notification-toast").count(), 0);
  await workbench.command("View: Hide Panel");
  await workbench.command("Developer: Show Running Extensions");
  const row = page.locator(".runtime-extensions-editor .monaco-list-row", { hasText: "Ullage" });
  await row.waitFor();
  const time = (await row.locator(".activation-time").innerText()).trim();
  say(`activation: ${time}`);
  await shot("nothing");
}
