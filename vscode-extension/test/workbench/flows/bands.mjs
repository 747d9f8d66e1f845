// A session grows through the bands: gauge, its background, its words, the finding, the status.
import assert from "node:assert/strict";
import { SESSION_ID } from "../session.mjs";
import { gaugeShows, grow, writeSession } from "./flow.mjs";

export const NAME = "bands";
export const TITLE = "the gauge goes through its bands as a session grows";

let transcript;

export function prepare(workbench) {
  transcript = writeSession(workbench, { id: SESSION_ID, usedTokens: 84_000 });
}

export async function go(workbench, { say, shot }) {
  const { page } = workbench;
  // It shows without a file being opened.
  const calm = await gaugeShows(workbench, "42%");
  assert.doesNotMatch(calm.look, /\b(warning|error)-kind\b/);
  say(`gauge: ${calm.text} (${calm.label})`);
  await shot("gauge-normal");

  grow(transcript, 166_000);
  const warned = await gaugeShows(workbench, "83%");
  assert.match(warned.look, /\bwarning-kind\b/);
  assert.match(warned.label, /83/);
  say(`gauge: ${warned.text} (${warned.label})`);
  await shot("gauge-warning");

  grow(transcript, 192_000);
  const critical = await gaugeShows(workbench, "96%");
  assert.match(critical.look, /\berror-kind\b/);
  say(`gauge: ${critical.text} (${critical.label})`);
  await shot("gauge-error");

  await workbench.openFile(transcript);
  await page.locator(".monaco-editor [class*='squiggly-']").first().waitFor({ state: "attached" });
  await workbench.command("Problems: Focus on Problems View");
  const problem = page.locator(".markers-panel .monaco-list-row", { hasText: "Context" }).first();
  await problem.waitFor();
  say(`problem: ${(await problem.innerText()).replaceAll(/\s+/g, " ").trim()}`);
  await shot("transcript");
  await workbench.command("View: Close Panel");
}
