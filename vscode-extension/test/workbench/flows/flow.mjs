// What the flows share: sessions as an agent leaves them, the gauge, and waiting for what it shows.
import { appendFileSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { nextTurn, session, sessionFolderName } from "../session.mjs";
import { TIMEOUT_MS, until } from "../workbench.mjs";

export const GAUGE = ".statusbar-item[id$='ullage.gauge']";

/** Return the folder where pi would have the workspace's sessions. */
export function sessionFolder({ home, workspace }) {
  return path.join(home, ".pi/agent/sessions", sessionFolderName(workspace));
}

/** Let there be an agent on the machine, without a session in the workspace: the server is started. */
export function agentIsThere(workbench) {
  mkdirSync(sessionFolder(workbench), { recursive: true });
}

/** Put the workspace's files and a session where pi would have them; return the transcript's path. */
export function writeSession(workbench, { id, usedTokens }) {
  const { workspace } = workbench;
  mkdirSync(path.join(workspace, "src/payments"), { recursive: true });
  writeFileSync(path.join(workspace, "src/payments/retry.ts"), "export const attempts = 3;\n");
  agentIsThere(workbench);
  const { name, lines } = session({ cwd: workspace, usedTokens, id });
  const transcript = path.join(sessionFolder(workbench), name);
  writeFileSync(transcript, lines.map((line) => `${line}\n`).join(""));
  leaveQuiet(transcript);
  return transcript;
}

/** Let the agent say something more, so that its context is this full. */
export function grow(transcript, usedTokens, ask = "And now?") {
  const lastLine = readFileSync(transcript, "utf8").trimEnd().split("\n").at(-1);
  const answer = "Done: the tests pass, and the changelog says so.";
  appendFileSync(transcript, nextTurn(lastLine, { ask, answer, usedTokens }).map((line) => `${line}\n`).join(""));
  leaveQuiet(transcript);
}

/** The agent has been quiet for a minute: the server does not write to a session at work. */
export function leaveQuiet(transcript) {
  const minuteAgo_s = Date.now() / 1000 - 60;
  utimesSync(transcript, minuteAgo_s, minuteAgo_s);
}

/** Remove a session, so that the next one is the live one. */
export function forget(transcript) {
  rmSync(transcript);
}

/** Wait until the gauge shows a text; return what it shows, and its class. */
export async function gaugeShows({ page }, text, timeout_ms = TIMEOUT_MS) {
  const gauge = page.locator(GAUGE);
  await gauge.filter({ hasText: text }).waitFor({ timeout: timeout_ms });
  return { text: (await gauge.innerText()).trim(), look: (await gauge.getAttribute("class")) ?? "", label: (await gauge.locator("a").getAttribute("aria-label")) ?? "" };
}

/** Wait until the gauge shows less than this share, in percent; return its text. */
export async function gaugeBelow({ page }, percent) {
  return until(`the gauge to fall below ${percent} %`, async () => {
    const text = await page.locator(GAUGE).innerText();
    const match = /(\d+)%/.exec(text);
    return match !== null && Number(match[1]) < percent ? text.trim() : undefined;
  });
}

/** Leave the window as it was: no editor, no panel, no notification. */
export async function tidy(workbench) {
  const { page } = workbench;
  if ((await page.locator(".editor-instance, .tab").count()) > 0) await workbench.command("View: Close All Editors");
  if (await page.locator(".part.panel").isVisible()) await workbench.command("View: Hide Panel");
  if ((await page.locator(".notification-toast").count()) > 0) await workbench.command("Notifications: Clear All Notifications");
}

/** Name a file in the dialog that is open. */
export async function nameFile({ page }, file) {
  const dialog = page.locator(".quick-input-widget");
  const box = dialog.locator("input.input").first();
  // What is named before the dialog has read its folder becomes a part of another name.
  await dialog.locator(".monaco-list-row", { hasText: ".." }).first().waitFor();
  await until("the folder in the dialog", async () => (await box.inputValue()).startsWith("/"));
  await until("the dialog to close", async () => {
    try {
      // An Enter may only take what is proposed, and none is taken while the folder is being read: it is named again.
      for (const name of [path.dirname(file), file]) await box.fill(name, { timeout: 3_000 });
      await page.keyboard.press("Enter");
      await box.waitFor({ state: "hidden", timeout: 3_000 });
      return true;
    } catch {
      return box.isHidden();
    }
  });
}

/** Return what something shows, on one line. */
export async function textOf(locator) {
  return (await locator.innerText()).replaceAll(/\s+/g, " ").trim();
}
