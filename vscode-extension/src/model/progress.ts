/** What the server reports while it works on something that takes its time. */

export interface Report {
  readonly kind: "report";
  /** "" where it says nothing new. */
  readonly message: string;
  /** Of the whole, from 0 to 100. */
  readonly percentage: number;
}

/** After the end nothing more is reported: the rest takes no time, or waits for the user. */
export type Step = Report | { readonly kind: "end" };

/** What a progress of the editor is told: by how much it grows, not where it stands. */
export interface Growth {
  readonly message?: string;
  readonly increment: number;
}

/** Return a function that turns reports into growth; a report that falls back grows by nothing. */
export function growth(): (report: Report) => Growth {
  let reached = 0;
  return ({ message, percentage }) => {
    const next = Math.max(reached, Math.min(100, percentage));
    const increment = next - reached;
    reached = next;
    return message === "" ? { increment } : { message, increment };
  };
}
