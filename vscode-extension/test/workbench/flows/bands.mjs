// A session grows through the bands: gauge, its background, its words, the one nudge, and its transcript.
import assert from "node:assert/strict";
import { sessionId } from "../session.mjs";
import { forget, GAUGE, gaugeShows, grow, textOf, tidy, writeSession } from "./flow.mjs";

export const NAME = "bands";
export const TITLE = "the gauge goes through its bands as a session grows";

let transcript;

export function prepare(workbench) {
  transcript = writeSession(workbench, { id: sessionId(1), usedTokens: 84_000 });
}

export async function go(workbench, { say, shot }) {
  const { page } = workbench;
  // It shows without a file being opened.
  const calm = await gaugeShows(workbench, "42%");
  assert.doesNotMatch(calm.look, /\b(warning|error)-kind\b/);
  assert.match(calm.label, /42% used.*normal/);
  assert.equal(await page.locator(".notification-toast").count(), 0, "a normal gauge tells nobody");
  say(`gauge: ${calm.text} (${calm.label})`);

  grow(transcript, 166_000);
  const warned = await gaugeShows(workbench, "83%");
  assert.match(warned.look, /\bwarning-kind\b/);
  assert.match(warned.label, /83% used.*warning/);
  say(`gauge: ${warned.text} (${warned.label}); told: ${await workbench.told("83% used")}`);
  await shot("gauge-warning");
  await workbench.answer("83% used", "Not Now");
  await workbench.notification("83% used").waitFor({ state: "hidden" });

  grow(transcript, 167_000);
  await gaugeShows(workbench, "84%");
  grow(transcript, 192_000);
  const critical = await gaugeShows(workbench, "96%");
  assert.match(critical.look, /\berror-kind\b/);
  assert.match(critical.label, /96% used.*critical/);
  say(`gauge: ${critical.text} (${critical.label}); told: ${await workbench.told("96% used")}`);
  assert.equal(await page.locator(".notification-toast").count(), 1, "one nudge for each band");
  await shot("gauge-error");
  await workbench.answer("96% used", "Snooze");
  await workbench.notification("96% used").waitFor({ state: "hidden" });

  grow(transcript, 194_000);
  await gaugeShows(workbench, "97%");
  await workbench.itemHover(GAUGE, "194,000");
  await shot("gauge-hover");
  await showsOnTranscript(workbench, { say, shot });
  assert.equal(await page.locator(".notification-toast").count(), 0, "who said no is not asked again");
  await tidy(workbench);
  forget(transcript);
}

async function showsOnTranscript(workbench, { say, shot }) {
  const { page } = workbench;
  await workbench.openFile(transcript);
  await page.locator(".monaco-editor [class*='squiggly-error']").first().waitFor({ state: "attached" });
  const lens = page.locator(".codelens-decoration", { hasText: "Compact…" }).first();
  await lens.waitFor();
  const hint = page.locator(".view-line span", { hasText: /^\d[\d,]*\stok\s·\s\d+%\sfull$/ }).first();
  await hint.waitFor();
  say(`lenses: ${await textOf(lens)}; inlay hint: ${await textOf(hint)}`);
  await workbench.command("Problems: Focus on Problems View");
  const problem = page.locator(".markers-panel .monaco-list-row", { hasText: "Context is 97% full" }).first();
  await problem.waitFor();
  say(`problem: ${await textOf(problem)}`);
  await shot("transcript");
  await page.keyboard.press("Control+1");
  await workbench.goTo(6);
  say(`hover: ${(await textOf(await workbench.hover("tokens"))).slice(0, 160)}`);
  await shot("transcript-hover");
  await page.keyboard.press("Escape");
}
