/** The rows of the three views, from what the server says. */

import type { CheckpointRow, MemoryRow, SessionRow, WindowRow } from "../protocol";

/** What a row stands for, and what its commands are given. */
export type Subject =
  | { readonly kind: "session"; readonly row: SessionRow }
  | { readonly kind: "subagents"; readonly rows: readonly SessionRow[] }
  | { readonly kind: "window"; readonly row: WindowRow; readonly session: SessionRow }
  | { readonly kind: "checkpoint"; readonly row: CheckpointRow; readonly session: string }
  | { readonly kind: "memory"; readonly row: MemoryRow }
  | { readonly kind: "memories"; readonly rows: readonly MemoryRow[] };

/** Where a click leads. */
export type Target =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "lines"; readonly path: string; readonly firstLine: number; readonly lastLine: number }
  | { readonly kind: "document"; readonly uri: string }
  | { readonly kind: "choose" };

export interface TreeRow {
  /** Unique in its view and the same from one answer to the next: what is expanded stays so. */
  readonly id: string;
  readonly title: string;
  readonly detail: string;
  /** Markdown, or "" for the title and the detail. */
  readonly tooltip: string;
  /** Id of an icon of the editor. */
  readonly icon: string;
  readonly level: SessionRow["level"];
  /** Words that `when` clauses look for, with blanks between them. */
  readonly context: string;
  /** What a screen reader says. */
  readonly label: string;
  readonly state: "leaf" | "collapsed" | "expanded";
  readonly target: Target | undefined;
  readonly subject: Subject;
}

/** Return the row of a session; `isShown` when the other views are about it too. */
export function sessionTreeRow(row: SessionRow, isShown: boolean): TreeRow {
  return {
    id: `session:${row.session.path}`,
    // In a narrow view the end of a row is cut.
    title: `${row.gauge} · ${row.title}`,
    detail: row.detail,
    tooltip: "",
    icon: sessionIcon(row, isShown),
    level: row.level,
    context: words("session", isShown && "shown", row.canWrite && "writable"),
    label: row.label,
    state: isShown ? "expanded" : "collapsed",
    target: { kind: "choose" },
    subject: { kind: "session", row },
  };
}

/** Return the row that holds the subagents of a session. */
export function subagentsTreeRow(row: SessionRow, title: string): TreeRow {
  return {
    id: `subagents:${row.session.path}`,
    title,
    detail: row.subagents.length.toLocaleString("en"),
    tooltip: "",
    icon: "organization",
    level: "normal",
    context: "subagents",
    label: `${title}, ${row.subagents.length}`,
    state: "collapsed",
    target: undefined,
    subject: { kind: "subagents", rows: row.subagents },
  };
}

/** Return the row of a share of a session's window, or of an entry. */
export function windowTreeRow(row: WindowRow, session: SessionRow): TreeRow {
  const { canWrite } = session;
  const { path } = session.session;
  return {
    id: `window:${path}:${row.key}`,
    title: row.title,
    detail: row.detail,
    tooltip: row.tooltip,
    icon: WINDOW_ICONS[row.kind],
    level: row.kind === "cut" ? "warning" : row.kind === "problem" ? "error" : "normal",
    context: words(
      row.kind,
      canWrite && row.item !== null && "prunable",
      canWrite && row.entry !== null && "pinnable",
      session.canNote && row.pin !== null && "removable",
    ),
    label: row.label,
    state: row.children.length > 0 ? "collapsed" : "leaf",
    target: windowTarget(row),
    subject: { kind: "window", row, session },
  };
}

export function checkpointTreeRow(row: CheckpointRow, session: string): TreeRow {
  return {
    id: `checkpoint:${row.path}`,
    title: row.title,
    detail: row.detail,
    tooltip: row.tooltip,
    icon: row.isReadable ? (row.isLatest ? "bookmark" : "history") : "error",
    level: row.isReadable ? "normal" : "error",
    context: words("checkpoint", row.isReadable && "readable", row.previous !== null && "follows"),
    label: row.label,
    state: "leaf",
    target: { kind: "file", path: row.path },
    subject: { kind: "checkpoint", row, session },
  };
}

/** Return the row of a file of memory, of an item that waits, of a chunk, or of what changed. */
export function memoryTreeRow(row: MemoryRow): TreeRow {
  return {
    id: `memory:${row.kind}:${row.path}:${row.item ?? row.firstLine ?? ""}`,
    title: row.title,
    detail: row.detail,
    tooltip: row.tooltip,
    icon: MEMORY_ICONS[row.kind],
    level: MEMORY_LEVELS[row.kind],
    context: words(row.kind, row.sha256 !== null && "acceptable", row.item !== null && "reviewable"),
    label: row.label,
    state: "leaf",
    target: memoryTarget(row),
    subject: { kind: "memory", row },
  };
}

/** Return the row that holds what waits, the changes from outside, or what was recalled. */
export function memoriesTreeRow(kind: "item" | "change" | "recall", rows: readonly MemoryRow[], title: string): TreeRow {
  return {
    id: `memories:${kind}`,
    title,
    detail: rows.length.toLocaleString("en"),
    tooltip: "",
    icon: GROUP_ICONS[kind],
    level: MEMORY_LEVELS[kind],
    context: "memories",
    label: `${title}, ${rows.length}`,
    state: "expanded",
    target: undefined,
    subject: { kind: "memories", rows },
  };
}

/** Return the sessions and their subagents, however deep, in the order of the view. */
export function withSubagents(rows: readonly SessionRow[]): readonly SessionRow[] {
  return rows.flatMap((row) => [row, ...withSubagents(row.subagents)]);
}

const WINDOW_ICONS: Readonly<Record<WindowRow["kind"], string>> = {
  category: "symbol-folder",
  entry: "symbol-string",
  part: "symbol-file",
  cut: "warning",
  advice: "lightbulb",
  free: "circle-outline",
  pins: "pinned",
  pin: "pin",
  problem: "error",
};

const GROUP_ICONS: Readonly<Record<"item" | "change" | "recall", string>> = {
  item: "inbox",
  change: "warning",
  recall: "history",
};

const MEMORY_ICONS: Readonly<Record<MemoryRow["kind"], string>> = {
  memory: "book",
  log: "calendar",
  instructions: "law",
  item: "lightbulb",
  recall: "quote",
  change: "warning",
  problem: "error",
};

const MEMORY_LEVELS: Readonly<Record<MemoryRow["kind"], TreeRow["level"]>> = {
  memory: "normal",
  log: "normal",
  instructions: "normal",
  item: "normal",
  recall: "normal",
  change: "warning",
  problem: "error",
};

function windowTarget({ path, uri }: WindowRow): Target | undefined {
  if (path !== null) {
    return { kind: "file", path };
  }
  return uri === null ? undefined : { kind: "document", uri };
}

function memoryTarget({ kind, path, firstLine, lastLine, uri }: MemoryRow): Target | undefined {
  switch (kind) {
    case "problem":
      return undefined;
    case "change":
      return uri === null ? undefined : { kind: "document", uri };
    case "item":
    case "recall":
    case "memory":
    case "log":
    case "instructions":
      return firstLine === null || lastLine === null ? { kind: "file", path } : { kind: "lines", path, firstLine, lastLine };
  }
}

function sessionIcon(row: SessionRow, isShown: boolean): string {
  if (row.level !== "normal") {
    return row.level;
  }
  if (row.isLive) {
    return "pulse";
  }
  return isShown ? "eye" : "comment-discussion";
}

function words(...parts: readonly (string | false)[]): string {
  return parts.filter((part) => part !== false).join(" ");
}
