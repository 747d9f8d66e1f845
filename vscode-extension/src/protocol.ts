/**
 * What the server and this client say to each other beyond LSP.
 *
 * The names here are those of `server/ullage/lsp/protocol.py`; a test of the server compares the two files.
 */

/** Notification from the server: what the gauge shows now. */
export const GAUGE_NOTIFICATION = "ullage/gauge";

/** `workspace/executeCommand`: compact a session. The server asks for confirmation. */
export const COMPACT_COMMAND = "ullage.compact";

/** `workspace/executeCommand`: the status of a session as text. */
export const STATUS_COMMAND = "ullage.status";

export interface SessionRef {
  agent: string;
  sessionId: string;
  /** Path of the transcript. */
  path: string;
}

export interface GaugeParams {
  /** Null when the workspace has no session. */
  session: SessionRef | null;
  /** `42%`, `~42%` when estimated, `?` when unknown. */
  text: string;
  /** Markdown. */
  tooltip: string;
  level: "normal" | "warning" | "error";
  /** What a screen reader says. */
  label: string;
}

/** The only argument of both commands. */
export interface SessionArgument {
  /** Path of the transcript; null is the session that the gauge shows. */
  session: string | null;
}

export interface CompactResult {
  outcome: "compacted" | "cancelled" | "nothing";
  message: string;
}

export interface StatusResult {
  text: string;
}

/** The result of each command. */
export interface CommandResults {
  [COMPACT_COMMAND]: CompactResult;
  [STATUS_COMMAND]: StatusResult;
}
