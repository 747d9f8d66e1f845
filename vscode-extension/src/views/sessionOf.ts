/** What a command was called for: a row of a view, a session's path, or nothing, from the palette. */

import type { Subject } from "../model/tree";
import type { ShownSession } from "./shownSession";

/** Return the subject of the row that a command was given; undefined when it was given something else. */
export function subjectOf(target: unknown): Subject | undefined {
  return typeof target === "object" && target !== null && "subject" in target
    ? (target.subject as Subject)
    : undefined;
}

/** Return the path of the session that is meant; null where there is none. */
export function sessionOf(target: unknown, shown: ShownSession): string | null {
  if (typeof target === "string") {
    return target;
  }
  const subject = subjectOf(target);
  switch (subject?.kind) {
    case "session":
      return subject.row.session.path;
    case "window":
      return subject.session.session.path;
    case "checkpoint":
      return subject.session;
    case "subagents":
    case "memory":
    case "memories":
    case undefined:
      return shown.path;
  }
}
