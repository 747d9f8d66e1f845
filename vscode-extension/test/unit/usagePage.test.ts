import assert from "node:assert/strict";
import { test } from "node:test";
import { usagePage } from "../../src/model/usagePage";
import type { UsageResult } from "../../src/protocol";

const words = { heading: "Usage by Day", drawing: "Bar chart", legend: "Bars: tokens.", caption: "As a table" };
const HEADS = ["Day", "Requests", "Sent"];

const dayFrom = (first: string, n: number): string => new Date(Date.parse(first) + n * 86_400_000).toISOString().slice(0, 10);

function usage(...sent: number[]): UsageResult {
  const days = sent.map((nSent, n) => ({ nSent, cells: [dayFrom("2026-02-01", n), String(n), `${nSent}`] }));
  return { title: "/work/shop <b>", heads: HEADS, days, total: ["all", "9", "150"], notes: ["gpt: 9 requests"] };
}

const count = (page: string, pattern: RegExp): number => [...page.matchAll(pattern)].length;

test("each day has a bar as high as what was sent, and a row", () => {
  const page = usagePage(usage(100, 50, 0), words, "n0nce");
  const heights = [...page.matchAll(/<rect class="bar"[^>]* height="([\d.]+)"/g)].map((match) => Number(match[1]));
  assert.deepEqual(heights, [288, 144, 0]);
  assert.equal(count(page, /<tr><th scope="row">/g), 4);
  assert.ok(page.includes("<p>gpt: 9 requests</p>"));
});

test("the bar of a single day does not fill the page", () => {
  const [, width] = /<rect class="bar"[^>]* width="([\d.]+)"/.exec(usagePage(usage(100), words, "n0nce")) ?? [];
  assert.ok(Number(width) < 120, width);
});

test("of many days some are named, so that no name covers another", () => {
  const page = usagePage(usage(...Array<number>(60).fill(5)), words, "n0nce");
  assert.equal(count(page, /<rect class="bar"/g), 60);
  assert.equal(count(page, />\d\d-\d\d<\/text>/g), 12);
});

test("a day without use has its place, be it one or a year of them, and no row", () => {
  const { days, ...rest } = usage(100, 50);
  for (const [nDays, nNames] of [[13, 13], [366, 14]] as const) {
    const last = { nSent: 50, cells: [dayFrom("2026-02-01", nDays - 1), "1", "50"] };
    const page = usagePage({ ...rest, days: [...days.slice(0, 1), last] }, words, "n0nce");
    const bars = [...page.matchAll(/<rect class="bar" x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="([\d.]+)"/g)].map((match) =>
      match.slice(1).map(Number),
    );
    assert.deepEqual(bars.map(([, , height]) => height), [288, ...Array<number>(nDays - 2).fill(0), 144]);
    const [[first = 0, width = 0] = [], [second = 0] = []] = bars;
    assert.ok(width > 1 && second > first + width);
    assert.equal(count(page, />\d\d-\d\d<\/text>/g), nNames);
    assert.equal(count(page, /<tr><th scope="row">/g), 3);
  }
});

test("what the server says is escaped, and nothing is run", () => {
  const page = usagePage(usage(1), words, "n0nce");
  assert.ok(page.includes("/work/shop &lt;b&gt;"));
  assert.doesNotMatch(page, /<script|<b>/);
});

test("where nothing was used there is a sentence, and what could not be read", () => {
  const page = usagePage({ ...usage(), notes: ["Not counted: a <torn> file."] }, words, "n0nce");
  assert.doesNotMatch(page, /<svg|<table/);
  assert.ok(page.includes("<p>Not counted: a &lt;torn&gt; file.</p>"));
});
