import assert from "node:assert/strict";
import { test } from "node:test";
import { PLOT_AREA, plotOf, ticks } from "../../src/model/plot";
import { plotPage, shortTokens, type PlotFrame, type PlotWords } from "../../src/model/plotPage";
import { MAX_ROWS, plotRows } from "../../src/model/plotTable";
import type { HistoryMark, HistoryPoint, HistoryResult } from "../../src/protocol";

const words: PlotWords = {
  heading: "Window over Time",
  nothing: "Nothing yet.",
  drawing: "Line chart",
  window: "Window",
  axis: "Answers",
  legend: "Dashed and hollow: estimated.",
  time: "Time",
  tokens: "Tokens",
  share: "Share",
  happened: "What Happened",
  estimated: "estimated",
  unknownTime: "time unknown",
  dateAndTime: (at) => at.slice(11, 16),
  date: (at) => at.slice(0, 10),
  clock: (at) => at.slice(11, 16),
  summary: (nPoints, nTokens, windowTokens, nCompactions) =>
    `${nPoints} answers, ${nTokens} of ${windowTokens}, ${nCompactions} compactions`,
  caption: (nShown, nRows) => `${nShown} of ${nRows}`,
  passed: (names) => `passed ${names}`,
  compaction: (title, before, after) => `${title}: ${before} → ${after}`,
};
const frame: PlotFrame = { nonce: "n0nce", linkTo: (entry) => `command:open?${entry}` };

function points(...nTokens: number[]): HistoryPoint[] {
  return nTokens.map((n, nth) => ({
    at: `2026-01-01T10:${String(nth % 60).padStart(2, "0")}:00Z`,
    nTokens: n,
    share: `${n / 2000}%`,
    isEstimated: false,
    entry: `e${nth}`,
  }));
}

function mark(nPoint: number, tokensBefore: number | null, tokensAfter: number | null): HistoryMark {
  return { nPoint, at: "2026-01-01T11:00:00Z", title: "full", tokensBefore, tokensAfter, shareAfter: tokensAfter === null ? null : "~21%" };
}

function history(parts: Partial<HistoryResult> = {}): HistoryResult {
  return { session: null, title: "Fix the parser", windowTokens: 200_000, points: [], marks: [], thresholds: [], ...parts };
}

const compacted = history({
  points: points(40_000, 150_000, 180_000, 45_000, 60_000),
  marks: [mark(3, 182_000, 42_000)],
  thresholds: [{ name: "prune", atTokens: 120_000 }, { name: "summarize", atTokens: 150_000 }],
});

test("ticks are round, start at zero and do not pass the highest value", () => {
  assert.deepEqual(ticks(208_000, 6), [0, 50_000, 100_000, 150_000, 200_000]);
  assert.deepEqual(ticks(1, 6), [0, 0.2, 0.4, 0.6000000000000001, 0.8, 1]);
  assert.deepEqual(ticks(0, 6), [0]);
  assert.deepEqual(ticks(999, 6), [0, 200, 400, 600, 800]);
});

test("the ticks of points are whole points", () => {
  for (let n = 1; n < 40; n += 1) {
    const { xTicks } = plotOf(history({ points: points(...Array<number>(n).fill(5)) }), "Window");
    assert.ok(xTicks.length > 0 && xTicks.every(({ value }) => Number.isInteger(value) && value < n), String(n));
  }
});

test("the date stands where it changes, and no label hangs over the end of the axis", () => {
  const days = points(1, 2, 3, 4).map((point, n) => ({ ...point, at: `2026-01-0${n < 2 ? 1 : 2}T1${n}:00:00Z` }));
  const page = plotPage(history({ points: days }), words, frame);
  const labels = [...page.matchAll(/<text x="([\d.]+)" y="(322|336)" text-anchor="(\w+)">([^<]+)</g)];
  assert.deepEqual(labels.map(([, , , , label]) => label), ["10:00", "2026-01-01", "11:00", "12:00", "2026-01-02", "13:00"]);
  assert.deepEqual(labels.at(-1)?.slice(1, 4), [String(PLOT_AREA.right), "322", "end"]);
});

test("everything drawn lies within its area, whatever is larger than the window", () => {
  const { dots, drops, limits } = plotOf({ ...compacted, windowTokens: 100_000 }, "Window");
  for (const y of [...dots.map((dot) => dot.y), ...drops.map((drop) => drop.yBefore ?? 0), ...limits.map((one) => one.y)]) {
    assert.ok(PLOT_AREA.top <= y && y <= PLOT_AREA.bottom, String(y));
  }
  for (const x of [...dots.map((dot) => dot.x), ...drops.map((drop) => drop.x)]) {
    assert.ok(PLOT_AREA.left <= x && x <= PLOT_AREA.right, String(x));
  }
});

test("a compaction interrupts the line between the points beside it, and falls from before to after", () => {
  const { dots, drops, reportedPath } = plotOf(compacted, "Window");
  const [drop] = drops;
  assert.ok(drop?.yBefore !== undefined && drop.yAfter !== undefined);
  assert.ok((dots[2]?.x ?? 0) < drop.x && drop.x < (dots[3]?.x ?? 0));
  assert.ok(drop.yBefore < drop.yAfter);
  assert.equal(reportedPath.split("M").length - 1, 2);
  assert.ok(reportedPath.includes(`L${drop.x},${drop.yBefore}M${drop.x},${drop.yAfter}L`));
});

test("a compaction that nothing followed, or nothing preceded, is drawn beside the points", () => {
  const after = plotOf(history({ points: points(10, 20), marks: [mark(2, 20, 5)] }), "Window");
  assert.ok((after.drops[0]?.x ?? 0) > (after.dots[1]?.x ?? 0));
  const before = plotOf(history({ points: points(10, 20), marks: [mark(0, null, null)] }), "Window");
  assert.ok((before.drops[0]?.x ?? 0) < (before.dots[0]?.x ?? 0));
  assert.equal(before.drops[0]?.yBefore, undefined);
});

test("two compactions between the same points stand beside each other", () => {
  const { drops } = plotOf(history({ points: points(10, 20), marks: [mark(1, 10, 5), mark(1, 5, 3)] }), "Window");
  assert.ok((drops[0]?.x ?? 0) < (drops[1]?.x ?? 0));
});

test("the way to and from an estimated point is drawn apart from what was reported", () => {
  const [first, second, third] = points(10, 20, 30);
  assert.ok(first && second && third);
  const plot = plotOf(history({ points: [first, second, { ...third, isEstimated: true }] }), "Window");
  const at = (n: number): string => `${plot.dots[n]?.x ?? 0},${plot.dots[n]?.y ?? 0}`;
  assert.equal(plot.reportedPath, `M${at(0)}L${at(1)}`);
  assert.equal(plot.estimatedPath, `M${at(1)}L${at(2)}`);
});

test("a single point is a dot in the middle without a line", () => {
  const { dots, reportedPath } = plotOf(history({ points: points(10) }), "Window");
  assert.equal(dots[0]?.x, (PLOT_AREA.left + PLOT_AREA.right) / 2);
  assert.equal(reportedPath, "");
});

test("a thousand points are a line without dots, in a page of moderate size", () => {
  const long = history({ points: points(...Array.from({ length: 1000 }, (_, n) => 1000 + n * 150)) });
  assert.equal(plotOf(long, "Window").dots.length, 0);
  const page = plotPage(long, words, frame);
  assert.ok(page.length < 100_000, String(page.length));
  assert.equal(page.match(/<tr/g)?.length, MAX_ROWS + 1);
  assert.ok(page.includes(`<caption>${MAX_ROWS} of 1000</caption>`));
});

test("the names of limits that lie close together do not cover each other, nor leave the area", () => {
  const thresholds = Array.from({ length: 8 }, (_, n) => ({ name: `t${n}`, atTokens: n * 100 }));
  const { limits } = plotOf(history({ thresholds }), "Window");
  const labels = limits.map(({ yLabel }) => yLabel);
  assert.ok(labels.every((y, n) => n === 0 || y - (labels[n - 1] ?? 0) >= 14));
  assert.ok((labels.at(-1) ?? 0) <= PLOT_AREA.bottom);
  assert.deepEqual(limits[0]?.name, "Window");
});

test("an unknown window is neither drawn nor divided by", () => {
  const unknown = history({ windowTokens: 0, points: points(10) });
  assert.deepEqual(plotOf(unknown, "Window").limits, []);
  assert.ok(plotPage(unknown, words, frame).includes("10 of ?"));
});

test("a session without history says so instead of drawing", () => {
  const page = plotPage(history(), words, frame);
  assert.ok(page.includes("<p>Nothing yet.</p>"));
  assert.equal(page.includes("<svg"), false);
  assert.equal(page.includes("<table"), false);
});

test("the table starts with the newest, and has compactions in their place", () => {
  const rows = plotRows(compacted);
  assert.deepEqual(rows.map(({ nTokens }) => nTokens), [60_000, 45_000, 42_000, 180_000, 150_000, 40_000]);
  assert.equal(rows[2]?.compaction?.number, 1);
  assert.deepEqual(rows.slice(2, 4).map(({ share }) => share), ["~21%", "90%"]);
});

test("a row names the thresholds that were passed with it, once", () => {
  assert.deepEqual(plotRows(compacted).map(({ passed }) => passed), [[], [], [], [], ["prune", "summarize"], []]);
});

test("what the session says is escaped in text and in attributes", () => {
  const evil = `"><img src=x onerror='alert(1)'>&`;
  const page = plotPage(
    history({
      title: evil,
      points: points(1, 2),
      marks: [{ ...mark(1, 1, 2), title: evil }],
      thresholds: [{ name: evil, atTokens: 1 }],
    }),
    words,
    { nonce: evil, linkTo: () => evil },
  );
  assert.equal(page.includes("<img"), false);
  assert.ok(page.includes("&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;"));
});

test("the page runs and loads nothing, and its style alone has the key", () => {
  const page = plotPage(compacted, words, frame);
  assert.ok(page.includes(`content="default-src 'none'; style-src 'nonce-n0nce'"`));
  assert.equal(/<script|\sstyle=|src=|url\(/.test(page), false);
});

test("who cannot see the drawing has its name, its summary and a table with headed rows and columns", () => {
  const page = plotPage(compacted, words, frame);
  assert.ok(page.includes(`role="img" aria-label="Line chart" aria-describedby="summary"`));
  assert.ok(page.includes(`<p id="summary">5 answers, 60k of 200k, 1 compactions</p>`));
  assert.equal(page.match(/scope="col"/g)?.length, 4);
  assert.equal(page.match(/scope="row"/g)?.length, 6);
  assert.ok(page.includes("full: 182k → 42k"));
});

test("what may be wider than the page is moved by the keys", () => {
  const scrolled = [...plotPage(compacted, words, frame).matchAll(/<div class="scroll"([^>]*)>/g)].map(([, attributes]) => attributes);
  assert.equal(scrolled.length, 2);
  assert.ok(scrolled.every((attributes) => /tabindex="0" role="group" aria-label="[^"]+"/.test(attributes ?? "")));
});

test("a time links to its message where there is one", () => {
  const page = plotPage(compacted, words, frame);
  assert.ok(page.includes(`<a href="command:open?e4">10:04</a>`));
  assert.equal(plotPage(compacted, words, { ...frame, linkTo: () => null }).includes("<a "), false);
});

test("tokens are written as the server writes them, and ticks exactly", () => {
  assert.deepEqual([0, 850, 1500, 42_000, 182_400, 999_700, 1_048_576].map(shortTokens), ["0", "850", "1.5k", "42k", "182k", "1M", "1M"]);
});
