/** The page of the plot: a drawing and its table, as HTML without scripts. */

import type { HistoryResult } from "../protocol";
import { PLOT_AREA, PLOT_HEIGHT, PLOT_WIDTH, plotOf, type Drop, type Limit, type Plot } from "./plot";
import { MAX_ROWS, plotRows, type PlotRow } from "./plotTable";
import { PLOT_STYLE } from "./plotStyle";

/** Chosen: half the width of a time or a date at a tick. */
const HALF_LABEL = 30;

/** What the page says. */
export interface PlotWords {
  readonly heading: string;
  readonly nothing: string;
  readonly drawing: string;
  readonly window: string;
  readonly axis: string;
  readonly legend: string;
  readonly time: string;
  readonly tokens: string;
  readonly share: string;
  readonly happened: string;
  readonly estimated: string;
  readonly unknownTime: string;
  /** RFC 3339 to a date and a time. */
  readonly dateAndTime: (at: string) => string;
  /** RFC 3339 to one of them alone. */
  readonly date: (at: string) => string;
  readonly clock: (at: string) => string;
  readonly summary: (nPoints: number, nTokens: string, windowTokens: string, nCompactions: number) => string;
  readonly caption: (nShown: number, nRows: number) => string;
  readonly passed: (names: string) => string;
  readonly compaction: (title: string, before: string, after: string) => string;
}

/** What the panel adds: the key to its own style, and the way to a message. */
export interface PlotFrame {
  readonly nonce: string;
  /** Null when the message cannot be opened. */
  readonly linkTo: (entry: string) => string | null;
}

/** Return the page. It loads nothing, runs nothing, and all that the session says in it is escaped. */
export function plotPage(history: HistoryResult, words: PlotWords, frame: PlotFrame): string {
  const isEmpty = history.points.length + history.marks.length === 0;
  return page(words.heading, isEmpty ? `<p>${escaped(words.nothing)}</p>` : content(history, words, frame), frame.nonce);
}

/** Return a page of a heading and what stands below it, in HTML. */
export function page(heading: string, content: string, nonce: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${escaped(nonce)}'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(heading)}</title>
<style nonce="${escaped(nonce)}">${PLOT_STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(heading)}</h1>
${content}
</main>
</body>
</html>
`;
}

/** Return what is moved from side to side where it has no room, by the keys as well. */
export function scrolled(name: string, content: string): string {
  return `<div class="scroll" tabindex="0" role="group" aria-label="${escaped(name)}">${content}</div>`;
}

/** `850`, `1.5k`, `180k`, `1M`: as the server writes tokens, and exact where a tick needs it. */
export function shortTokens(nTokens: number): string {
  if (nTokens < 1000) {
    return String(nTokens);
  }
  const [value, unit] = nTokens < 999_500 ? [nTokens / 1000, "k"] : [nTokens / 1_000_000, "M"];
  return `${value < 100 ? Number(value.toFixed(1)) : Math.round(value)}${unit}`;
}

function content(history: HistoryResult, words: PlotWords, frame: PlotFrame): string {
  const last = history.points.at(-1)?.nTokens ?? history.marks.at(-1)?.tokensAfter ?? null;
  const summary = words.summary(
    history.points.length,
    last === null ? "?" : shortTokens(last),
    history.windowTokens > 0 ? shortTokens(history.windowTokens) : "?",
    history.marks.length,
  );
  return `<p class="session">${escaped(history.title)}</p>
<p id="summary">${escaped(summary)}</p>
<figure>
${scrolled(words.drawing, drawing(history, words))}
<figcaption>${escaped(words.legend)}</figcaption>
</figure>
${table(plotRows(history), words, frame)}`;
}

function drawing(history: HistoryResult, words: PlotWords): string {
  const plot = plotOf(history, words.window);
  const { left, right, top, bottom } = PLOT_AREA;
  return `<svg viewBox="0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}" role="img" aria-label="${escaped(words.drawing)}" aria-describedby="summary">
<g class="grid">${plot.yTicks.map(({ position }) => line(left, position, right, position)).join("")}</g>
<g class="axis">
${line(left, bottom, right, bottom)}${line(left, top, left, bottom)}
${plot.yTicks.map(({ value, position }) => text(left - 8, position + 4, shortTokens(value), "end")).join("")}
${timeTicks(history, plot, words)}
${text((left + right) / 2, bottom + 52, words.axis, "middle")}
</g>
${plot.limits.map(limit).join("\n")}
<path class="used" d="${plot.reportedPath}"/>
<path class="used estimated" d="${plot.estimatedPath}"/>
${plot.drops.map((drop) => dropMark(drop, history, words)).join("\n")}
${plot.dots.map((dot) => dotMark(dot, history, words)).join("\n")}
</svg>`;
}

/** The time at each tick, and below it the date where that is another than at the tick before. */
function timeTicks({ points }: HistoryResult, { xTicks }: Plot, words: PlotWords): string {
  const { right, bottom } = PLOT_AREA;
  let lastDate = "";
  return xTicks
    .map(({ value, position }) => {
      const mark = line(position, bottom, position, bottom + 4);
      const at = points[value]?.at ?? null;
      if (at === null) {
        return mark;
      }
      const date = words.date(at);
      const shownDate = date === lastDate ? "" : date;
      lastDate = date;
      // A label does not hang over the end of the axis.
      const [x, anchor] = position + HALF_LABEL > right ? ([right, "end"] as const) : ([position, "middle"] as const);
      const label = text(x, bottom + 18, words.clock(at), anchor);
      return mark + label + (shownDate === "" ? "" : text(x, bottom + 32, shownDate, anchor));
    })
    .join("");
}

function limit({ name, nTokens, isWindow, y, yLabel }: Limit): string {
  const { left, right } = PLOT_AREA;
  const lead = `<path class="lead" d="M${right},${y}L${right + 10},${yLabel}"/>`;
  const label = text(right + 14, yLabel + 4, `${name} ${shortTokens(nTokens)}`, "start");
  return `<g class="limit${isWindow ? " window" : ""}">${line(left, y, right, y)}${lead}${label}</g>`;
}

function dropMark({ number, x, yBefore, yAfter }: Drop, { marks }: HistoryResult, words: PlotWords): string {
  const mark = marks[number - 1];
  const title = mark === undefined ? "" : compactionText(mark, words);
  const fall =
    yBefore === undefined || yAfter === undefined ? line(x, PLOT_AREA.top, x, PLOT_AREA.bottom) : line(x, yBefore, x, yAfter);
  const y = Math.max(yBefore ?? PLOT_AREA.top, PLOT_AREA.top + 8);
  return `<g class="drop"><title>${escaped(title)}</title>${fall}<circle cx="${x}" cy="${y}" r="8"/>${text(x, y + 4, String(number), "middle")}</g>`;
}

function dotMark({ x, y, nPoint, isEstimated }: Plot["dots"][number], { points }: HistoryResult, words: PlotWords): string {
  const { at, nTokens } = points[nPoint] ?? { at: null, nTokens: 0 };
  const parts = [timeText(at, words), nTokens.toLocaleString("en"), isEstimated ? words.estimated : ""];
  const title = parts.filter((part) => part !== "").join(" · ");
  return `<circle class="dot${isEstimated ? " estimated" : ""}" cx="${x}" cy="${y}" r="3"><title>${escaped(title)}</title></circle>`;
}

function table(rows: readonly PlotRow[], words: PlotWords, frame: PlotFrame): string {
  const shown = rows.slice(0, MAX_ROWS);
  const heads = [words.time, words.tokens, words.share, words.happened];
  return scrolled(words.heading, `<table>
<caption>${escaped(words.caption(shown.length, rows.length))}</caption>
<thead><tr>${heads.map((head, n) => `<th scope="col"${n === 1 || n === 2 ? ' class="figure"' : ""}>${escaped(head)}</th>`).join("")}</tr></thead>
<tbody>
${shown.map((row) => tableRow(row, words, frame)).join("\n")}
</tbody>
</table>`);
}

function tableRow(row: PlotRow, words: PlotWords, frame: PlotFrame): string {
  const time = timeText(row.at, words);
  const href = row.entry === null ? null : frame.linkTo(row.entry);
  const head = href === null ? escaped(time) : `<a href="${escaped(href)}">${escaped(time)}</a>`;
  const happened = [
    row.compaction === undefined ? "" : compactionText(row.compaction, words),
    row.passed.length === 0 ? "" : words.passed(row.passed.join(", ")),
    row.isEstimated ? words.estimated : "",
  ];
  const cells = [row.nTokens?.toLocaleString("en") ?? "?", row.share ?? "?"];
  const what = happened.filter((part) => part !== "").join(" · ");
  return `<tr${row.compaction === undefined ? "" : ' class="compaction"'}><th scope="row">${head}</th>${cells
    .map((cell) => `<td class="figure">${escaped(cell)}</td>`)
    .join("")}<td>${escaped(what)}</td></tr>`;
}

function timeText(at: string | null, words: PlotWords): string {
  return at === null ? words.unknownTime : words.dateAndTime(at);
}

function compactionText(
  { title, tokensBefore, tokensAfter }: { title: string; tokensBefore: number | null; tokensAfter: number | null },
  words: PlotWords,
): string {
  const short = (nTokens: number | null): string => (nTokens === null ? "?" : shortTokens(nTokens));
  return words.compaction(title, short(tokensBefore), short(tokensAfter));
}

export function line(x1: number, y1: number, x2: number, y2: number): string {
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`;
}

export function text(x: number, y: number, content: string, anchor: "start" | "middle" | "end"): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}">${escaped(content)}</text>`;
}

/** Make text safe in an element and in a quoted attribute. */
export function escaped(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (character) => names[character] ?? "");
}
