// The first gauge by one button: no interpreter has the server, so it is installed from what the package carries.
import assert from "node:assert/strict";
import { sessionId } from "../session.mjs";
import { gaugeShows, writeSession } from "./flow.mjs";

export const NAME = "install";
export const TITLE = "the server is installed by one button";

/** Chosen: a slow index; 22 s were measured. */
const INSTALL_TIMEOUT_MS = 240_000;

export function prepare(workbench) {
  writeSession(workbench, { id: sessionId(1), usedTokens: 84_000 });
}

export async function go(workbench, { say, shot }) {
  const { page } = workbench;
  say(`told: ${await workbench.told("Install it?")}`);
  // The offer is not the only way: who looks for the gauge, or into the view, finds it too.
  await page.locator(".statusbar-item", { hasText: "Install Ullage" }).waitFor();
  await workbench.command("Context: Focus on Window View");
  await page.locator(".welcome-view", { hasText: "not installed yet" }).locator(".monaco-button", { hasText: "Install Server" }).waitFor();
  await shot("install-offer");

  const started_ms = Date.now();
  await workbench.answer("Install it?", "Install");
  await page.locator(".notification-toast", { hasText: "Installing" }).waitFor();
  await shot("install-progress");
  const gauge = await gaugeShows(workbench, "42%", INSTALL_TIMEOUT_MS);
  say(`gauge: ${gauge.text} after ${((Date.now() - started_ms) / 1000).toFixed(0)} s; told: ${await workbench.told("Ullage is ready")}`);
  assert.equal(workbench.servers().length, 1);
  assert.equal(await page.locator(".statusbar-item", { hasText: "Install Ullage" }).count(), 0);
  await workbench.row("Tool results").waitFor();
  await shot("installed");
}
