// Two agents live in one folder, and whatever is asked and told names the session that is meant. By the keyboard alone.
import assert from "node:assert/strict";
import { SESSIONS, TwoAgents } from "../agents.mjs";
import { Screen, STATUS } from "../screen.mjs";
import { until } from "../workbench.mjs";
import { GAUGE, textOf, tidy } from "./flow.mjs";

export const NAME = "two_agents";
export const TITLE = "two agents live in one folder, and every question and outcome names the session that is meant";

const MINUTES = Number(process.env.MINUTES ?? 1);
const SEED = Number(process.env.SEED ?? 33);
/** What goes on is neither asked nor told. */
const PROGRESS = /^(Planning|Compacting the session|Summarizing|The preview is kept)/;
/** What comes by itself, not from what was just done. */
const BY_ITSELF = /^Context \d+% used in |: \d+% of the window is used /;
/** The title of the list of all sessions. */
const OF_ALL = "Choose Session";
/** Told of a row that was drawn anew under its command: it is known no more. */
const OF_NONE = /^Only a single tool result /;

let agents;

export function prepare(workbench, { python }) {
  agents = new TwoAgents(workbench);
  agents.start(python, { seed: SEED, seconds: MINUTES * 60 });
}

export async function go(workbench, { say, shot }) {
  const visit = new Visit(workbench, { say, shot });
  say(`MINUTES=${MINUTES} SEED=${SEED}`);
  const end = Date.now() + MINUTES * 60_000;
  try {
    await visit.screen.watch();
    while (Date.now() < end) {
      agents.assertAtWork();
      await visit.act();
    }
  } finally {
    await agents.stop();
    visit.sum();
  }
  assert.deepEqual(visit.violations, []);
  await tidy(workbench);
}

class Visit {
  violations = [];
  nBy = {};
  /** The session that the gauge shows, and all means that names none. */
  chosen = undefined;
  pictures = new Set();

  constructor(workbench, { say, shot }) {
    Object.assign(this, { workbench, page: workbench.page, say, shot, screen: new Screen(workbench.page), chance: new Chance(SEED) });
  }

  /** Do one thing to one session, and look at what the screen says and the disk has. */
  async act() {
    await this.answerByItself();
    await this.workbench.command("Notifications: Clear All Notifications");
    // The same words would not be said again.
    await this.page.locator(STATUS).waitFor({ state: "detached" });
    await this.screen.take();
    const session = this.chance.of(Object.keys(SESSIONS));
    const [kind, work] = this.chance.of(ACTIONS);
    await this.watched(kind, session, () => work(this, session));
    await this.checkGauge();
  }

  /** Go through something that means one session; `work` gives what became of it: made, refused, declined or nothing. */
  async watched(kind, session, work) {
    Object.assign(this, { meant: session, kind });
    const before = agents.transcripts();
    const outcome = await work();
    this.count(`${kind}: ${outcome}`);
    this.say(`${kind} of ${session}: ${outcome}`);
    this.checkDisk(kind, session, before, outcome === "made");
    this.meant = undefined;
  }

  /** Run a command for the session that is meant: by its row, or by the palette once it is chosen. */
  async command(label, { hasRow = true } = {}) {
    if (hasRow && this.chance.is(0.4)) {
      await this.focusSession();
      assert.ok(await this.rowCommand(label), `${label} is not in the menu of a session`);
      return;
    }
    await this.choose();
    await this.workbench.command(`Context: ${label}`);
  }

  /** Bring the row of the session that is meant into focus, all rows closed. */
  async focusSession() {
    await this.workbench.focusRow("Window", "");
    await this.page.keyboard.press("Control+ArrowLeft");
    await this.workbench.focusRow("Window", SESSIONS[this.meant].shortId);
  }

  /** Run a command of the focused row, and return true; false where its menu has none such. */
  async rowCommand(label) {
    const isThere = (await (await this.workbench.rowMenu()).filter({ hasText: label }).count()) > 0;
    await this.page.keyboard.press("Escape");
    if (isThere) await this.workbench.rowCommand(label);
    return isThere;
  }

  /** Press a key until something is there. */
  async walk(key, target) {
    await until(`${key} to lead on`, async () => {
      if ((await target.count()) > 0) return true;
      await this.page.keyboard.press(key);
      return target.waitFor({ timeout: 300 }).then(() => true, () => false);
    });
  }

  /** Choose the session that is meant, if it is not. */
  async choose() {
    if (this.chosen === this.meant) return;
    const { shortId } = SESSIONS[this.meant];
    await this.workbench.command("Context: Choose Session…");
    await this.workbench.pick(shortId);
    await this.hear(["status"]);
    await this.page.locator(`${GAUGE} a[aria-label*='${shortId}']`).waitFor();
    this.chosen = this.meant;
  }

  /** Wait for what is said of the session that is meant, and see that it names it. */
  async hear(places = ["question", "list", "message", "status"]) {
    const said = await this.screen.next(`something in ${places.join(", ")}`, (said) => places.includes(said.where) && isAnswer(said));
    this.count({ question: "questions", list: "lists" }[said.where] ?? (said.isRefusal ? "refusals" : "outcomes"));
    this.checkNames(said.text, this.meant);
    const picture = `two-agents-${this.kind}-${said.where}${said.isRefusal ? "-refused" : ""}`.replaceAll(/\W+/g, "-");
    if (!this.pictures.has(picture)) await this.shot(picture);
    this.pictures.add(picture);
    return said;
  }

  /** Hear what became of something. */
  async hearOutcome() {
    const said = await this.hear(["message", "status"]);
    this.say(`told: ${said.text}`);
    // pi may go on between a change and the look at it.
    if (said.isRefusal) return said.text.includes(" was written, but ") ? "made" : "refused";
    return /^(Nothing|Unchanged)/.test(said.text) ? "nothing" : "made";
  }

  /** Answer the question that stands there, now and then only once an agent has gone on, and now and then with No. */
  async decide(button) {
    if (this.chance.is(0.3)) await agents.oneGoesOn();
    const question = this.page.locator(".monaco-dialog-box");
    if (this.chance.is(0.25)) {
      await this.page.keyboard.press("Escape");
      await question.waitFor({ state: "detached" });
      await this.hear(["status"]);
      return "declined";
    }
    await this.workbench.confirm("", button);
    return this.hearOutcome();
  }

  checkNames(text, session) {
    if (OF_NONE.test(text)) return;
    const names = Object.keys(SESSIONS).filter((name) => [SESSIONS[name].title, SESSIONS[name].shortId].some((part) => text.includes(part)));
    if (names.length !== 1 || names[0] !== session) this.violate(`“${text}” is said of ${session}`);
  }

  async checkGauge() {
    if (this.chosen === undefined) return;
    const item = this.page.locator(`${GAUGE} a`);
    const [text, label] = [await textOf(item), (await item.getAttribute("aria-label")) ?? ""];
    this.checkNames(label, this.chosen);
    const named = Object.keys(SESSIONS).filter((name) => text.includes(SESSIONS[name].agent));
    if (named.length > 0) {
      this.count(`gauge names ${this.chosen}`);
      this.checkNames(text, this.chosen);
    }
  }

  /** What either agent wrote is there as it wrote it, and nothing changed but the session that is meant. */
  checkDisk(kind, session, before, isMade) {
    const after = agents.transcripts();
    for (const [path, { agent, data }] of before) {
      const now = after.get(path)?.data;
      if (now === undefined) {
        if (!(isMade && agent === session && path !== agents.paths[agent])) this.violate(`${kind} of ${session} removed ${path}`);
        continue;
      }
      const mayChange = isMade && agent === session && agent === "pi";
      const isAppended = now.subarray(0, data.length).equals(data);
      const isOurs = now.subarray(data.length).includes('"ullage');
      if (mayChange ? !keepsEntries(data, now) : !isAppended || isOurs) this.violate(`${kind} of ${session} wrote to ${path}`);
    }
    for (const [path, { agent }] of after) {
      if (!before.has(path) && !(isMade && agent === session)) this.violate(`${kind} of ${session} made ${path}`);
    }
  }

  /** Read what came by itself, and answer it in one of its ways. */
  async answerByItself() {
    for (const { text } of await this.screen.take(({ text }) => BY_ITSELF.test(text))) {
      const session = Object.keys(SESSIONS).find((name) => text.includes(SESSIONS[name].shortId));
      this.count("by itself");
      this.say(`by itself: ${text}`);
      this.checkNames(text, session);
      const buttons = await this.workbench.notification(text.slice(0, 40)).locator(".monaco-button").allInnerTexts().catch(() => []);
      if (buttons.length === 0) continue;
      const button = this.chance.of(buttons);
      await this.watched(`by itself, ${button}`, session, async () => {
        await this.workbench.answer(text.slice(0, 40), button);
        if (["Snooze", "Not Now"].includes(button)) return "declined";
        if (button === "Preview…") return this.decidePreview();
        return this.hearOutcome();
      });
    }
  }

  async decidePreview() {
    const opened = this.page.locator(".tab.active", { hasText: "proposed.md" });
    const isOpen = await until("the preview, or why there is none", async () => {
      if ((await opened.count()) > 0) return "open";
      return (await this.screen.has(isAnswer)) ? "not open" : undefined;
    });
    if (isOpen === "not open") return (await this.hear()).isRefusal ? "refused" : "nothing";
    await this.page.locator(".codelens-decoration", { hasText: "Discard" }).first().waitFor();
    this.checkNames(await textOf(this.page.locator(".codelens-decoration").first()), this.meant);
    if (this.chance.is(0.3)) await agents.oneGoesOn();
    const isApplied = this.chance.is(0.7);
    await this.workbench.command(isApplied ? "Context: Apply Compaction" : "Context: Discard Compaction Preview");
    const outcome = await this.hearOutcome();
    await this.workbench.command("View: Close All Editors");
    return isApplied ? outcome : "declined";
  }

  violate(what) {
    this.violations.push(what);
    this.say(`VIOLATION: ${what}`);
  }

  count(what) {
    this.nBy[what] = (this.nBy[what] ?? 0) + 1;
  }

  sum() {
    for (const what of Object.keys(this.nBy).sort()) this.say(`${String(this.nBy[what]).padStart(5)} ${what}`);
    this.say(`turns: ${JSON.stringify(agents.nTurns)}; violations: ${this.violations.length}`);
  }
}

/** Whether something is said of a session, and because of what was just done. */
function isAnswer({ text }) {
  return !PROGRESS.test(text) && !BY_ITSELF.test(text) && text !== OF_ALL;
}

/** Return whether all entries of a transcript are there still, in their order; a prune writes them anew. */
function keepsEntries(before, after) {
  const ids = (data) => data.toString("utf8").trimEnd().split("\n").filter((line) => !line.includes('"ullage')).map((line) => JSON.parse(line).id);
  const kept = ids(after);
  return ids(before).every((id, n) => kept[n] === id);
}

const ACTIONS = [
  ["prune", pruneList],
  ["prune by its row", pruneRow],
  ["compact", compact],
  ["undo", undo],
  ["redo", redo],
  ["checkpoint", writeCheckpoint],
  ["restore", restore],
  ["pin", pin],
];

async function pruneList(visit) {
  const { page, chance } = visit;
  await visit.command("Prune Tool Results…");
  const said = await visit.hear();
  if (said.where !== "list") return said.isRefusal ? "refused" : "nothing";
  for (let n = chance.below(3); n > 0; n -= 1) {
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
  }
  if (chance.is(0.3)) await agents.oneGoesOn();
  const isAny = (await page.locator(".quick-input-widget input:checked, .quick-input-widget .monaco-list-row [aria-checked='true'], .quick-input-widget .monaco-checkbox.checked").count()) > 0;
  if (chance.is(0.2) || !isAny) {
    await page.keyboard.press("Escape");
    return "declined";
  }
  await page.keyboard.press("Enter");
  return takeBack(visit, await visit.hearOutcome());
}

/** Prune one of the largest tool results, by its row. */
async function pruneRow(visit) {
  const { page, chance } = visit;
  await visit.choose();
  await visit.focusSession();
  const focused = (level) => page.locator(`.pane .monaco-list-row.focused[aria-level='${level}']`);
  await visit.walk("ArrowRight", focused(2));
  await visit.walk("ArrowDown", focused(2).filter({ hasText: "Tool results" }));
  await visit.walk("ArrowRight", focused(3));
  for (let n = chance.below(4); n > 0; n -= 1) await page.keyboard.press("ArrowDown");
  if (!(await visit.rowCommand("Prune This Item…"))) return "nothing";
  const said = await visit.hear();
  return said.where === "question" ? visit.decide("Prune") : said.isRefusal ? "refused" : "nothing";
}

async function compact(visit) {
  await visit.command("Compact Session…");
  return takeBack(visit, await visit.decidePreview());
}

/** Take what was made back by its own button, now and then. */
async function takeBack(visit, outcome) {
  if (outcome !== "made" || visit.chance.is(0.5)) return outcome;
  await visit.workbench.answer(/pruned|compacted/i, "Undo");
  const said = await visit.hear();
  const undone = said.where === "question" ? await visit.decide("Undo") : said.isRefusal ? "refused" : "made";
  visit.count(`undo by its button: ${undone}`);
  return outcome;
}

async function undo(visit) {
  await visit.command("Undo Last Change…");
  const said = await visit.hear();
  return said.where === "question" ? visit.decide("Undo") : said.isRefusal ? "refused" : "nothing";
}

async function redo(visit) {
  await visit.command("Redo Undone Change", { hasRow: false });
  return visit.hearOutcome();
}

async function writeCheckpoint(visit) {
  await visit.command("Write Checkpoint");
  return visit.hearOutcome();
}

async function restore(visit) {
  const { page, chance, workbench } = visit;
  await visit.command("Restore Checkpoint…", { hasRow: false });
  const said = await visit.hear();
  if (said.where !== "list") return "nothing";
  await page.keyboard.press("Enter");
  await visit.hear(["list"]);
  await workbench.pick(chance.of(["Into This Session", "Into a New Session"]));
  const asked = await visit.hear();
  return asked.where === "question" ? visit.decide("Restore") : "refused";
}

async function pin(visit) {
  const { page } = visit;
  await visit.command("Pin Message…", { hasRow: false });
  const said = await visit.hear();
  if (said.where !== "list") return "refused";
  await page.locator(".quick-input-widget .monaco-list-row").first().waitFor();
  await page.keyboard.press("Enter");
  return visit.hearOutcome();
}

/** Chooses by a seed: the same things in every run. */
class Chance {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** Return a number below 1. */
  #next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  is(share) {
    return this.#next() < share;
  }

  below(n) {
    return Math.floor(this.#next() * n);
  }

  of(list) {
    return list[this.below(list.length)];
  }
}
