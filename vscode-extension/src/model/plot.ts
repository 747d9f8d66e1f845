/** The window over time as a drawing: where each line, mark and label stands. */

import type { HistoryMark, HistoryResult } from "../protocol";

/** In the units of the drawing, which is scaled to the width of its panel. */
export const PLOT_WIDTH = 860;
export const PLOT_HEIGHT = 360;
/** What is drawn lies within; to the right of it stand the names of the limits. */
export const PLOT_AREA = { left: 52, right: 700, top: 16, bottom: 304 } as const;

/** Chosen: so many dots can be told apart at the smallest width. */
const MAX_DOTS = 120;
/** Chosen: the height of a label's line. */
const LABEL_HEIGHT = 14;
/** Chosen: how many ticks are aimed at. */
const N_TICKS = 6;
/** Chosen: the highest line does not touch the edge. */
const HEADROOM = 1.04;

export interface Tick {
  /** Along its axis. */
  readonly position: number;
  readonly value: number;
}

export interface Dot {
  readonly x: number;
  readonly y: number;
  readonly nPoint: number;
  readonly isEstimated: boolean;
}

/** A compaction or a prune, drawn as a fall; where a figure is unknown, there is only its place. */
export interface Drop {
  /** From 1, as in the table. */
  readonly number: number;
  readonly x: number;
  readonly yBefore: number | undefined;
  readonly yAfter: number | undefined;
}

export interface Limit {
  readonly name: string;
  readonly nTokens: number;
  readonly isWindow: boolean;
  readonly y: number;
  /** Where its name stands: beside its line, or as near to it as the other names let it. */
  readonly yLabel: number;
}

export interface Plot {
  /** Paths as SVG has them, each possibly empty. */
  readonly reportedPath: string;
  readonly estimatedPath: string;
  /** None where they could not be told apart. */
  readonly dots: readonly Dot[];
  readonly drops: readonly Drop[];
  readonly limits: readonly Limit[];
  /** Their values are tokens. */
  readonly yTicks: readonly Tick[];
  /** Their values are indices of points. */
  readonly xTicks: readonly Tick[];
}

interface Vertex {
  readonly x: number;
  readonly y: number;
  readonly isEstimated: boolean;
}

/**
 * Return the drawing of a history.
 *
 * Its horizontal axis counts the points: by the clock, one night's pause would leave no room for the day's work.
 */
export function plotOf(history: HistoryResult, windowName: string): Plot {
  const { points, marks } = history;
  const places = markPlaces(marks);
  const indices = [...points.map((_, nPoint) => nPoint), ...places];
  const x = scale(Math.min(...indices), Math.max(...indices), PLOT_AREA.left + 12, PLOT_AREA.right - 12);
  const highest = Math.max(1, ...shownTokens(history)) * HEADROOM;
  const y = scale(0, highest, PLOT_AREA.bottom, PLOT_AREA.top);

  const drops = marks.map((mark, nMark): Drop => ({
    number: nMark + 1,
    x: x(places[nMark] ?? 0),
    yBefore: mapped(mark.tokensBefore ?? points[mark.nPoint - 1]?.nTokens, y),
    yAfter: mapped(mark.tokensAfter ?? points[mark.nPoint]?.nTokens, y),
  }));
  const dots = points.map(({ nTokens, isEstimated }, nPoint): Dot => ({ x: x(nPoint), y: y(nTokens), nPoint, isEstimated }));
  const segments = segmentsOf(dots, drops, marks);
  return {
    reportedPath: pathOf(segments.filter(([from, to]) => !from.isEstimated && !to.isEstimated)),
    estimatedPath: pathOf(segments.filter(([from, to]) => from.isEstimated || to.isEstimated)),
    dots: dots.length > MAX_DOTS ? [] : dots,
    drops,
    limits: limitsOf(history, windowName, y),
    yTicks: ticks(highest, N_TICKS).map((value) => ({ value, position: y(value) })),
    xTicks: ticks(points.length - 1, N_TICKS)
      .filter((value) => Number.isInteger(value) && value < points.length)
      .map((value) => ({ value, position: x(value) })),
  };
}

/** Return round values from 0 up to the highest, about as many as asked for, in steps of 1, 2 or 5 times ten. */
export function ticks(highest: number, nTicks: number): readonly number[] {
  if (highest <= 0) {
    return [0];
  }
  const wanted = highest / nTicks;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= wanted) ?? 10);
  return Array.from({ length: Math.floor(highest / step) + 1 }, (_, n) => n * step);
}

/** Several compactions between the same two points share the room there. */
function markPlaces(marks: readonly HistoryMark[]): readonly number[] {
  return marks.map((mark) => {
    const together = marks.filter(({ nPoint }) => nPoint === mark.nPoint);
    return mark.nPoint - 1 + (together.indexOf(mark) + 1) / (together.length + 1);
  });
}

function shownTokens({ points, marks, windowTokens, thresholds }: HistoryResult): readonly number[] {
  return [
    windowTokens,
    ...points.map(({ nTokens }) => nTokens),
    ...marks.flatMap(({ tokensBefore, tokensAfter }) => [tokensBefore ?? 0, tokensAfter ?? 0]),
    ...thresholds.map(({ atTokens }) => atTokens),
  ];
}

/** The line from point to point; a compaction interrupts it, since its fall is drawn by itself. */
function segmentsOf(
  dots: readonly Dot[],
  drops: readonly Drop[],
  marks: readonly HistoryMark[],
): readonly (readonly [Vertex, Vertex])[] {
  const segments: (readonly [Vertex, Vertex])[] = [];
  let last: Vertex | undefined;
  const goTo = (vertex: Vertex): void => {
    if (last !== undefined) {
      segments.push([last, vertex]);
    }
    last = vertex;
  };
  for (let nPoint = 0; nPoint <= dots.length; nPoint += 1) {
    for (const [nMark, { x, yBefore, yAfter }] of drops.entries()) {
      if (marks[nMark]?.nPoint !== nPoint) {
        continue;
      }
      if (yBefore !== undefined && last !== undefined) {
        goTo({ x, y: yBefore, isEstimated: last.isEstimated });
      }
      last = yAfter === undefined ? undefined : { x, y: yAfter, isEstimated: dots[nPoint]?.isEstimated ?? false };
    }
    const dot = dots[nPoint];
    if (dot !== undefined) {
      goTo(dot);
    }
  }
  return segments;
}

function pathOf(segments: readonly (readonly [Vertex, Vertex])[]): string {
  let path = "";
  let end: Vertex | undefined;
  for (const [from, to] of segments) {
    path += `${from === end ? "" : `M${place(from)}`}L${place(to)}`;
    end = to;
  }
  return path;
}

function limitsOf(history: HistoryResult, windowName: string, y: (nTokens: number) => number): readonly Limit[] {
  const named = history.thresholds.map(({ name, atTokens }) => ({ name, nTokens: atTokens, isWindow: false }));
  const window = { name: windowName, nTokens: history.windowTokens, isWindow: true };
  const all = [...(history.windowTokens > 0 ? [window] : []), ...named].sort((a, b) => b.nTokens - a.nTokens);
  const lines = all.map((limit) => y(limit.nTokens));
  const labels = apart(lines, PLOT_AREA.bottom);
  return all.map((limit, n) => ({ ...limit, y: lines[n] ?? 0, yLabel: labels[n] ?? 0 }));
}

/** Move ascending places apart so that a label fits at each, and up again where the last ones fell over the edge. */
function apart(places: readonly number[], lowest: number): readonly number[] {
  const moved: number[] = [];
  for (const wanted of places) {
    moved.push(Math.max(wanted, (moved.at(-1) ?? -Infinity) + LABEL_HEIGHT));
  }
  for (let n = moved.length - 1; n >= 0; n -= 1) {
    const limit = n === moved.length - 1 ? lowest : (moved[n + 1] ?? lowest) - LABEL_HEIGHT;
    moved[n] = Math.min(moved[n] ?? limit, limit);
  }
  return moved;
}

/** Return the linear map of [from, to] onto [start, end]; of a single value, to the middle. */
function scale(from: number, to: number, start: number, end: number): (value: number) => number {
  return (value) =>
    round(from === to ? (start + end) / 2 : start + ((value - from) / (to - from)) * (end - start));
}

function mapped(value: number | null | undefined, map: (value: number) => number): number | undefined {
  return value === null || value === undefined ? undefined : map(value);
}

function place({ x, y }: { readonly x: number; readonly y: number }): string {
  return `${x},${y}`;
}

/** A tenth of the drawing's unit is less than anybody can see. */
function round(value: number): number {
  return Math.round(value * 10) / 10;
}
