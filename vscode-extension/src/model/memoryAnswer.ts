/** The answers of memory to a question, as rows of a list that the user chooses from. */

import type { MemoryHitRow, MemorySearchResult } from "../protocol";
import { shownAsText } from "./shownText";

export interface AnswerRow {
  /** The place; never the text, by which the list would sort what is sorted already. */
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  /** Undefined where the row only says something. */
  readonly hit: MemoryHitRow | undefined;
}

/** Return the answers, best first, and below them what is to be said of them. */
export function answerRows({ rows, message }: MemorySearchResult): readonly AnswerRow[] {
  const hits = rows.map(
    (hit): AnswerRow => ({ label: shownAsText(hit.place), description: shownAsText(hit.detail), detail: shownAsText(hit.title), hit }),
  );
  return message === "" ? hits : [...hits, messageRow(message)];
}

export function messageRow(message: string): AnswerRow {
  return { label: shownAsText(message), description: "", detail: "", hit: undefined };
}
