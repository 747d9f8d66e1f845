// What an agent alone knows of its session, where it compacts by itself, and what was used by day.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { asClaudeCode, claudeFolderName, session } from "../session.mjs";
import { run, until } from "../workbench.mjs";
import { GAUGE, gaugeShows, leaveQuiet, textOf, tidy } from "./flow.mjs";

export const NAME = "figures";
export const TITLE = "limits, money, cache and the agent's own compaction point stand in the gauge, its hover, the plot and the usage";

const ID = "11111111-2222-4333-8444-0000cafe0003";
const SESSION_TITLE = "Fix double charges";
const USED_TOKENS = 120_000;
const HOUR_S = 3600;

let transcript;

export function prepare(workbench, { python }) {
  const { home, workspace } = workbench;
  const folder = path.join(home, ".claude/projects", claudeFolderName(workspace));
  mkdirSync(folder, { recursive: true });
  transcript = path.join(folder, `${ID}.jsonl`);
  const { lines } = session({ cwd: workspace, usedTokens: USED_TOKENS, id: ID });
  writeFileSync(transcript, asClaudeCode(lines, { cwd: workspace, id: ID, title: SESSION_TITLE }).map((line) => `${line}\n`).join(""));
  leaveQuiet(transcript);
  writeFileSync(path.join(workspace, "CLAUDE.md"), "# Rules\n\n- Run the tests before each commit.\n".repeat(40));
  tell(workbench, python);
}

/** Tell what Claude Code tells its status line, by the command that `ullage install claude-code` sets. */
function tell({ home, workspace }, python) {
  const now_s = Math.round(Date.now() / 1000);
  const told = {
    session_id: ID,
    transcript_path: transcript,
    cwd: workspace,
    session_name: SESSION_TITLE,
    model: { id: "claude-sonnet-4-5", display_name: "Sonnet 4.5" },
    cost: { total_cost_usd: 0.39024 },
    context_window: { context_window_size: 200_000 },
    prompt_cache: { caching_observed: true, hit_ratio: 0.856 },
    rate_limits: {
      five_hour: { used_percentage: 23.5, resets_at: now_s + 2 * HOUR_S },
      seven_day: { used_percentage: 41, resets_at: now_s + 70 * HOUR_S },
    },
  };
  const env = { ...process.env, HOME: home, XDG_STATE_HOME: path.join(home, ".local/state") };
  run(python, ["-m", "ullage", "statusline"], { input: JSON.stringify(told), env, cwd: workspace });
}

export async function go(workbench, { say, shot }) {
  const { text, label } = await gaugeShows(workbench, "60% · 5h 24% · week 41%");
  say(`gauge: ${text} (${label})`);
  await hover(workbench, { say, shot });
  await part(workbench, { say, shot });
  await plot(workbench, { say, shot });
  await usage(workbench, { say, shot });
  await tidy(workbench);
  rmSync(path.dirname(transcript), { recursive: true });
  rmSync(path.join(workbench.workspace, "CLAUDE.md"));
}

/** The item in focus shows what a pointer on it shows. */
async function hover(workbench, { say, shot }) {
  const { page } = workbench;
  const text = await textOf(await workbench.itemHover(GAUGE, "compacts by itself"));
  say(`hover: ${text}`);
  for (const figure of ["120,000 / 200,000 (60.0%)", "by itself at 167,000, in 47,000 tokens", "5h 24% until", "week 41% until", "$0.39", "86% from the cache, as the agent says"]) {
    assert.ok(text.includes(figure), `${figure} is missing in: ${text}`);
  }
  await shot("figures-hover");
  await page.keyboard.press("Escape");
}

/** What a file costs that each request holds. */
async function part(workbench, { say, shot }) {
  await workbench.focusRow("Window", "Not in the messages");
  const row = await workbench.openRow("CLAUDE.md");
  const label = await row.getAttribute("aria-label");
  assert.match(label, /[\d,]+ tokens, [\d.]+% of the window\. .*\$\d/);
  say(`part: ${label}`);
  await workbench.focusRow("Window", "CLAUDE.md");
  await shot("figures-part");
}

async function plot(workbench, { say, shot }) {
  await workbench.command("Context: Plot Window");
  const lines = await inFrame(workbench, "svg text");
  say(`plot: ${lines.join(" | ")}`);
  assert.ok(lines.includes("agent compacts 167k"), String(lines));
  await shot("figures-plot");
  await workbench.command("View: Close All Editors");
}

/** What the page adds up is what stands in the transcript, at the model's published prices. */
async function usage(workbench, { say, shot }) {
  await workbench.command("Context: Plot Usage by Day");
  const cells = (await inFrame(workbench, "tfoot tr > *")).slice(1);
  say(`usage: ${cells.join(" ")}`);
  const records = readFileSync(transcript, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
  const usages = records.filter(({ type }) => type === "assistant").map(({ message }) => message.usage);
  const sum = (name) => usages.reduce((total, usage) => total + usage[name], 0);
  const [fresh, written, read, answered] = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"].map(sum);
  const sent = fresh + written + read;
  const usd = (fresh * 3 + written * 3.75 + read * 0.3 + answered * 15) / 1e6;
  const expected = [usages.length, `${(sent / 1e6).toFixed(1)}M`, `${Math.round((100 * read) / sent)}%`, answered.toLocaleString("en"), "", `$${usd.toFixed(2)}`];
  assert.deepEqual(cells, expected.map(String));
  await shot("figures-usage");
}

/** Wait for what a page of ours holds; return its texts. */
async function inFrame({ page }, selector) {
  return until(`${selector} in a page`, async () => {
    for (const frame of page.frames()) {
      const found = await frame.locator(selector).allTextContents().catch(() => []);
      if (found.length > 0) return found;
    }
    return undefined;
  });
}
