import assert from "node:assert/strict";
import { test } from "node:test";
import { usagePage } from "../../src/model/usagePage";
import type { UsageResult } from "../../src/protocol";

const words = { heading: "Usage by Day", drawing: "Bar chart", legend: "Bars: tokens.", caption: "As a table" };
const HEADS = ["Day", "Requests", "Sent"];

function usage(...sent: number[]): UsageResult {
  const days = sent.map((nSent, n) => ({ nSent, cells: [`2026-02-${String(n + 1).padStart(2, "0")}`, String(n), `${nSent}`] }));
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
  assert.equal(count(page, />02-\d\d<\/text>/g), 12);
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
