/** The table beside the plot: what the drawing says, in words and figures. */

import type { HistoryResult } from "../protocol";

/** Chosen: what a person still reads; the drawing has them all. */
export const MAX_ROWS = 200;

export interface PlotRow {
  /** RFC 3339. */
  readonly at: string | null;
  readonly nTokens: number | null;
  /** Of the window, as the gauge has it. */
  readonly share: string | null;
  readonly isEstimated: boolean;
  /** Names of the thresholds that were passed with this point, the lowest first. */
  readonly passed: readonly string[];
  readonly compaction: RowCompaction | undefined;
  /** Whose message it is. */
  readonly entry: string | null;
}

export interface RowCompaction {
  /** From 1, as in the drawing. */
  readonly number: number;
  readonly title: string;
  readonly tokensBefore: number | null;
  readonly tokensAfter: number | null;
}

/** Return a row for each point and each compaction, the newest first. */
export function plotRows(history: HistoryResult): readonly PlotRow[] {
  const rows: PlotRow[] = [];
  let nTokensBefore: number | null = null;
  for (let nPoint = 0; nPoint <= history.points.length; nPoint += 1) {
    for (const [nMark, mark] of history.marks.entries()) {
      if (mark.nPoint === nPoint) {
        const { at, title, tokensBefore, tokensAfter, shareAfter } = mark;
        rows.push({
          at,
          nTokens: tokensAfter,
          share: shareAfter,
          isEstimated: false,
          passed: [],
          compaction: { number: nMark + 1, title, tokensBefore, tokensAfter },
          entry: null,
        });
        nTokensBefore = tokensAfter;
      }
    }
    const point = history.points[nPoint];
    if (point !== undefined) {
      const { at, nTokens, share, isEstimated, entry } = point;
      rows.push({
        at,
        nTokens,
        share,
        isEstimated,
        passed: nTokensBefore === null ? [] : passedBetween(history, nTokensBefore, nTokens),
        compaction: undefined,
        entry,
      });
      nTokensBefore = nTokens;
    }
  }
  return rows.reverse();
}

function passedBetween({ thresholds }: HistoryResult, before: number, after: number): readonly string[] {
  return thresholds
    .filter(({ atTokens }) => before < atTokens && atTokens <= after)
    .sort((a, b) => a.atTokens - b.atTokens)
    .map(({ name }) => name);
}
