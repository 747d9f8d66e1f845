// The extension and the server in a real VS Code workbench, as a user meets them.
//   node run.mjs     CHROMIUM, ULLAGE_PYTHON, ULLAGE_WORKBENCH_DIR, VSIX, SHOT: see README.md
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { SESSION_ID, sessionFolderName, sessionLines } from "./session.mjs";
import { run, TIMEOUT_MS, until, Workbench } from "./workbench.mjs";

const repository = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");
const PYTHON = path.resolve(process.env.ULLAGE_PYTHON ?? path.join(repository, ".venv/bin/python"));
const SHOT = path.resolve(process.env.SHOT ?? path.join(repository, "docs/images/workbench.png"));
const GAUGE = ".statusbar-item[id$='ullage.gauge']";
const FAILED_SHOT = path.join(repository, "vscode-extension/out/workbench-failed.png");

const started = Date.now();
const say = (text) => console.log(`[${((Date.now() - started) / 1000).toFixed(1).padStart(5)} s] ${text}`);

/** Put the workspace's files and its session where pi would have them; return the transcript's path. */
function writeSession({ home, workspace }) {
  mkdirSync(path.join(workspace, "src/payments"), { recursive: true });
  writeFileSync(path.join(workspace, "src/payments/retry.ts"), "export const attempts = 3;\n");
  const folder = path.join(home, ".pi/agent/sessions", sessionFolderName(workspace));
  mkdirSync(folder, { recursive: true });
  const transcript = path.join(folder, `2026-01-01T00-00-00-000Z_${SESSION_ID}.jsonl`);
  const lines = sessionLines({ cwd: workspace, usedTokens: 182_000 });
  writeFileSync(transcript, lines.map((line) => `${line}\n`).join(""));
  // The agent has been quiet for a minute: the server does not write to a session at work.
  const minuteAgo = Date.now() / 1000 - 60;
  utimesSync(transcript, minuteAgo, minuteAgo);
  return transcript;
}

async function scenario(workbench) {
  const transcript = writeSession(workbench);
  await workbench.start({ "ullage.interpreter": PYTHON });
  say("workbench is open");
  const { page } = workbench;

  // The gauge shows without a file being opened.
  const gauge = page.locator(GAUGE);
  await gauge.filter({ hasText: "91%" }).waitFor();
  const look = await gauge.getAttribute("class");
  assert.match(look ?? "", /\b(warning|error)-kind\b/, "at 91 % the gauge has a background");
  const label = await gauge.locator("a").getAttribute("aria-label");
  assert.match(label ?? "", /91/, "the gauge has an accessible name");
  say(`gauge: ${(await gauge.innerText()).trim()} (${label})`);

  // The transcript has a finding.
  await workbench.openFile(transcript);
  await page.locator(".monaco-editor [class*='squiggly-']").first().waitFor({ state: "attached" });
  await workbench.command("Problems: Focus on Problems View");
  const problem = page.locator(".markers-panel .monaco-list-row", { hasText: "Context" }).first();
  await problem.waitFor();
  say(`problem: ${(await problem.innerText()).replaceAll(/\s+/g, " ").trim()}`);

  // The status, beside the transcript, as a person would look at both.
  await problem.click();
  await workbench.command("View: Close Primary Side Bar");
  await workbench.command("Context: Show Status");
  await page.locator(".tab.active", { hasText: "Context Status" }).waitFor();
  await workbench.command("View: Move Editor into Right Group");
  const status = page.locator(".editor-group-container.active .view-lines", { hasText: "182" });
  await status.waitFor();
  say("status is shown");
  await problem.click();
  for (let n = 0; n < 2; n += 1) await workbench.command("Decrease Current View Size");
  mkdirSync(path.dirname(SHOT), { recursive: true });
  await page.mouse.move(900, 720);
  await page.locator(".monaco-hover").waitFor({ state: "hidden" });
  await page.screenshot({ path: SHOT, animations: "disabled" });
  say(`picture: ${SHOT}`);

  const before = readFileSync(transcript);
  const question = page.locator(".notification-toast").filter({ has: page.locator(".monaco-button") });

  // The quick fix asks, and who closes the question has said no.
  await workbench.command("View: Focus First Editor Group");
  await workbench.command("Quick Fix...");
  await page.locator(".action-widget .monaco-list-row.focused", { hasText: "Compact this session" }).waitFor();
  await page.keyboard.press("Enter");
  await question.hover();
  await question.locator(".codicon-notifications-clear").click();
  await page.locator(".statusbar-item", { hasText: "cancelled" }).waitFor();
  assert.ok(readFileSync(transcript).equals(before), "a cancelled compaction writes nothing");
  say("quick fix asked, and was cancelled");

  // Compaction: asked, confirmed, written as one more line.
  await workbench.command("Context: Compact Session…");
  const confirm = question.locator(".monaco-button", { hasText: /^Compact/ });
  await confirm.waitFor();
  say(`question: ${(await question.locator(".notification-list-item-message").innerText()).trim()}`);
  assert.ok(readFileSync(transcript).equals(before), "nothing is written before the user has agreed");
  await confirm.click();
  const dropped = () =>
    until("the gauge to drop", async () => {
      const text = await gauge.innerText({ timeout: TIMEOUT_MS });
      const match = /(\d+)%/.exec(text);
      return match !== null && Number(match[1]) < 80 ? text.trim() : undefined;
    });
  const percent = await dropped();
  await workbench.notification("Compacted").waitFor();
  await problem.waitFor({ state: "hidden" });
  const after = readFileSync(transcript);
  assert.ok(after.subarray(0, before.length).equals(before), "what was in the transcript is still there");
  const added = after.subarray(before.length).toString("utf8").split("\n");
  assert.equal(added.length, 2, "one line was added, with its end");
  assert.equal(added[1], "");
  assert.equal(JSON.parse(added[0]).type, "compaction");
  say(`gauge after compaction: ${percent}`);

  // A new server says the same of the file.
  // Looked for in every frame: the gauge may be gone for a few of them only.
  const gone = page.waitForFunction((name) => (document.querySelector(name)?.getClientRects().length ?? 0) === 0, GAUGE);
  await workbench.command("Context: Restart Server");
  await gone;
  await gauge.waitFor();
  assert.equal(await dropped(), percent);
  say("server restarted");
}

// What was started is taken away even when the run is interrupted.
const workbench = new Workbench();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, () => {
    workbench.kill();
    console.log("0 passed, 1 failed");
    process.exit(1);
  });
}
let passed = false;
try {
  run(PYTHON, ["-c", "import ullage"]);
  await scenario(workbench);
  passed = true;
} catch (error) {
  console.error(error);
  console.error(await workbench.report(FAILED_SHOT));
}
try {
  await workbench.stop();
} catch (error) {
  console.error(error);
  passed = false;
}
say("done");
console.log(passed ? "1 passed, 0 failed" : "0 passed, 1 failed");
process.exit(passed ? 0 : 1);
