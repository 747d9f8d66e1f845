/** The page of what was used by day: bars and a table, as HTML without scripts. */

import type { UsageDay, UsageResult } from "../protocol";
import { PLOT_AREA, PLOT_HEIGHT, PLOT_WIDTH, ticks } from "./plot";
import { escaped, line, page, scrolled, shortTokens, text } from "./plotPage";

/** Chosen: so many days can be named below their bars. */
const MAX_LABELS = 14;
const N_TICKS = 5;
/** Chosen: a bar is never wider than one of a week. */
const MIN_DAYS = 7;
/** Chosen: of the room of a day. */
const BAR_SHARE = 0.7;
const DAY_MS = 86_400_000;

/** What the page says. */
export interface UsageWords {
  readonly heading: string;
  readonly drawing: string;
  readonly legend: string;
  readonly caption: string;
}

/** Return the page. It loads nothing, runs nothing, and all that the server says in it is escaped. */
export function usagePage(usage: UsageResult, words: UsageWords, nonce: string): string {
  const title = `<p class="session">${escaped(usage.title)}</p>`;
  const notes = usage.notes.map((note) => `<p>${escaped(note)}</p>`).join("\n");
  if (usage.days.length === 0) {
    return page(words.heading, `${title}\n${notes}`, nonce);
  }
  const content = `${title}
<figure>
${scrolled(words.drawing, drawing(usage, words))}
<figcaption>${escaped(words.legend)}</figcaption>
</figure>
${scrolled(words.heading, table(usage, words))}
${notes}`;
  return page(words.heading, content, nonce);
}

function drawing(usage: UsageResult, words: UsageWords): string {
  const days = everyDay(usage.days);
  const { left, top, bottom } = PLOT_AREA;
  const right = PLOT_WIDTH - left;
  const highest = Math.max(1, ...days.map(({ nSent }) => nSent));
  const y = (nTokens: number): number => bottom - ((bottom - top) * nTokens) / highest;
  const room = (right - left) / Math.max(days.length, MIN_DAYS);
  const step = Math.ceil(days.length / MAX_LABELS);
  const bars = days.map(({ nSent, cells }, nDay) => {
    // The newest at the right, as in the plot of a window.
    const x = right - room * (days.length - nDay);
    const name = nDay % step === 0 ? text(x + room / 2, bottom + 18, cells[0]?.slice(5) ?? "", "middle") : "";
    return `<rect class="bar" x="${x + (room * (1 - BAR_SHARE)) / 2}" y="${y(nSent)}" width="${room * BAR_SHARE}" height="${bottom - y(nSent)}"><title>${escaped(cells.join(" · "))}</title></rect>${name}`;
  });
  const scale = ticks(highest, N_TICKS);
  return `<svg viewBox="0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}" role="img" aria-label="${escaped(words.drawing)}">
<g class="grid">${scale.map((value) => line(left, y(value), right, y(value))).join("")}</g>
<g class="axis">${line(left, bottom, right, bottom)}${scale.map((value) => text(left - 8, y(value) + 4, shortTokens(value), "end")).join("")}</g>
${bars.join("\n")}
</svg>`;
}

/** Return a day for each from the first to the last: one that is not told of is empty. */
function everyDay(told: readonly UsageDay[]): UsageDay[] {
  const byName = new Map(told.map((day) => [day.cells[0] ?? "", day]));
  const moments = [...byName.keys()].map((name) => Date.parse(name));
  const first = Math.min(...moments);
  return Array.from({ length: (Math.max(...moments) - first) / DAY_MS + 1 }, (_, nDay) => {
    const name = new Date(first + nDay * DAY_MS).toISOString().slice(0, 10);
    return byName.get(name) ?? { nSent: 0, cells: [name] };
  });
}

function table({ heads, days, total }: UsageResult, words: UsageWords): string {
  return `<table>
<caption>${escaped(words.caption)}</caption>
<thead><tr>${heads.map((head, n) => `<th scope="col"${n === 0 ? "" : ' class="figure"'}>${escaped(head)}</th>`).join("")}</tr></thead>
<tbody>
${days.map(({ cells }) => tableRow(cells)).join("\n")}
</tbody>
<tfoot>${tableRow(total)}</tfoot>
</table>`;
}

function tableRow([name = "", ...figures]: readonly string[]): string {
  const cells = figures.map((figure) => `<td class="figure">${escaped(figure)}</td>`).join("");
  return `<tr><th scope="row">${escaped(name)}</th>${cells}</tr>`;
}
