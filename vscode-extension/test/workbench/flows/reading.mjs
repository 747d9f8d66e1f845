// A session is found by its name, read as chat, kept as Markdown; pruned into a copy that a terminal resumes; undone and redone.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { asClaudeCode, claudeFolderName, session } from "../session.mjs";
import { until } from "../workbench.mjs";
import { gaugeShows, leaveQuiet, nameFile, textOf, tidy } from "./flow.mjs";

export { agentIsThere as prepare } from "./flow.mjs";

export const NAME = "reading";
export const TITLE = "a session is found by its name, read as chat, kept as Markdown, resumed in a terminal, undone and redone";

const CLAUDE_TITLE = "Fix double charges";
const FIRST_REQUEST = "Write the refund report that the auditors asked for.";
const SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
const HOUR_S = 3600;

export async function go(workbench, { say, shot }) {
  const folder = path.join(workbench.home, ".claude/projects", claudeFolderName(workbench.workspace));
  const titled = writeClaude(workbench, folder, { n: 1, usedTokens: 120_000, ask: `The token is ${SECRET}. Checkout charges twice: find out why.` });
  const untitled = writeClaude(workbench, folder, { n: 2, usedTokens: 60_000, ask: FIRST_REQUEST });
  const twoHoursAgo_s = Date.now() / 1000 - 2 * HOUR_S;
  utimesSync(untitled, twoHoursAgo_s, twoHoursAgo_s);
  await gaugeShows(workbench, "60%");

  await choose(workbench, { say, shot });
  await read(workbench, titled, { say, shot });
  await resume(workbench, folder, titled, { say, shot });
  await undoAndRedo(workbench, folder, titled, { say, shot });
  await focus(workbench, { say, shot });
  await tidy(workbench);
  rmSync(folder, { recursive: true });
}

/** Write a session of Claude Code; the first alone has a title of its user's. */
function writeClaude({ workspace }, folder, { n, usedTokens, ask }) {
  const id = `11111111-2222-4333-8444-0000beef000${n}`;
  const { lines } = session({ cwd: workspace, usedTokens, id });
  const records = asClaudeCode(lines, { cwd: workspace, id, title: CLAUDE_TITLE }).map((line) => JSON.parse(line));
  records[0].message.content = ask;
  const written = records.filter(({ type }) => n === 1 || type !== "custom-title");
  mkdirSync(folder, { recursive: true });
  const transcript = path.join(folder, `${id}.jsonl`);
  writeFileSync(transcript, written.map((record) => `${JSON.stringify(record)}\n`).join(""));
  leaveQuiet(transcript);
  return transcript;
}

/** The title that a user gave stands for a session, else its first request; words of either find it. */
async function choose(workbench, { say, shot }) {
  const { page } = workbench;
  const rows = page.locator(".quick-input-widget .monaco-list-row");
  await workbench.command("Context: Choose Session…");
  await rows.filter({ hasText: CLAUDE_TITLE }).waitFor();
  say(`sessions: ${(await rows.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").trim()).join(" | ")}`);
  await shot("reading-sessions");
  await page.keyboard.type("refund report");
  await rows.filter({ hasText: CLAUDE_TITLE }).waitFor({ state: "detached" });
  assert.equal(await rows.count(), 1);
  say(`found: ${await textOf(rows.first())}`);
  await shot("reading-found");
  await page.keyboard.press("Escape");
}

async function read(workbench, titled, { say, shot }) {
  const { page, workspace } = workbench;
  await workbench.command("Context: Show Session as Chat");
  await page.locator(".tab.active", { hasText: "Context.md" }).waitFor();
  const text = page.locator(".editor-instance .view-lines");
  await text.filter({ hasText: "find out why" }).first().waitFor();
  assert.doesNotMatch(await text.first().innerText(), /ghp_/);
  await shot("reading-chat");

  await workbench.command("File: Save As...");
  const kept = path.join(workspace, "chat.md");
  await nameFile(workbench, kept);
  const markdown = await until("the chat as a file", () => existsSync(kept) && readFileSync(kept, "utf8"));
  assert.match(markdown, /^# Fix double charges · Claude Code · beef0001\n\n## 1\. User/);
  assert.ok(!markdown.includes(SECRET), "a secret is kept");
  const messages = readFileSync(titled, "utf8").split("\n").filter((line) => /"type":"(?:user|assistant)","message"/.test(line));
  assert.equal(markdown.match(/^## \d+\. /gm).length, messages.length);
  say(`kept: ${messages.length} messages`);
  await shot("reading-kept");
  await workbench.command("View: Close All Editors");
  rmSync(kept);
}

/** The outcome of a prune begins the copy that it made, in a terminal. */
async function resume(workbench, folder, titled, { say, shot }) {
  const noted = path.join(workbench.home, "resumed");
  writeFileSync(path.join(workbench.home, ".bashrc"), `claude() { printf '%s\\n' "$PWD" "$@" > ${noted}.part; mv ${noted}.part ${noted}; }\n`);
  await workbench.command("Context: Prune Tool Results…");
  await workbench.page.locator(".quick-input-widget .quick-input-title", { hasText: CLAUDE_TITLE }).waitFor();
  await workbench.page.keyboard.press("Enter");
  say(`told: ${await workbench.told(/pruned/i)}`);
  const [copy] = copies(folder, titled);
  await workbench.answer(/pruned/i, "Resume in Terminal");
  await until("claude to be begun in a terminal", () => existsSync(noted));
  assert.deepEqual(readFileSync(noted, "utf8").split("\n"), [workbench.workspace, "--resume", path.basename(copy, ".jsonl"), ""]);
  await shot("reading-resumed");
  await workbench.command("View: Hide Panel");
}

/** Undo takes the copy away, redo brings it back to the byte, and its own Undo takes it away again. */
async function undoAndRedo(workbench, folder, titled, { say, shot }) {
  const [copy] = copies(folder, titled);
  const before = readFileSync(copy);
  leaveQuiet(copy);
  await workbench.command("Context: Undo Last Change…");
  say(`asked: ${await workbench.confirm("Undo the last prune of", "Undo")}`);
  say(`told: ${await workbench.told("Undone")}`);
  await until("the copy to be gone", () => !existsSync(copy));
  await workbench.command("Notifications: Clear All Notifications");
  await workbench.command("Context: Redo Undone Change");
  await shot("reading-redo");
  const told = await workbench.told(/redone|again/i);
  say(`told: ${told}`);
  assert.ok(readFileSync(copy).equals(before), "the copy is another one");
  await shot("reading-redone");
  leaveQuiet(copy);
  await workbench.answer(/again/i, "Undo");
  await workbench.confirm("Undo the last prune of", "Undo");
  await until("the copy to be gone again", () => !existsSync(copy));
  await workbench.notification("Undone").locator(".monaco-button", { hasText: "Redo" }).waitFor();
  await shot("reading-undone");
  await workbench.command("Notifications: Clear All Notifications");
}

/** What a focus brought into a summary is marked. */
async function focus(workbench, { say, shot }) {
  const { page } = workbench;
  await workbench.command("Context: Compact Session…");
  const proposal = page.locator(".editor-group-container", { has: page.locator(".tab.active", { hasText: "proposed.md" }) });
  await proposal.locator(".view-lines", { hasText: "##" }).waitFor();
  await workbench.command("Context: Regenerate with Focus…");
  await page.locator(".quick-input-widget input.input").first().fill("refunds");
  await page.keyboard.press("Enter");
  const marks = proposal.locator(".view-line span", { hasText: /^focus/ });
  await marks.first().waitFor();
  say(`marked: ${(await proposal.locator(".view-line", { has: page.locator("span", { hasText: /^focus/ }) }).allInnerTexts()).join(" | ").slice(0, 900)}`);
  await shot("reading-focus");
  await workbench.command("Context: Discard Compaction Preview");
}

function copies(folder, titled) {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl") && !name.endsWith("beef0002.jsonl"))
    .map((name) => path.join(folder, name))
    .filter((file) => file !== titled);
}
