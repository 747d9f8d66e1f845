/**
 * What the server and this client say to each other beyond LSP.
 *
 * The names here are those of `server/ullage/lsp/protocol.py`; a test of the server compares the two files.
 * What is said of a session (words, figures, level) is ready to be shown: this client decides none of it.
 */

/** Notification from the server: what the gauge shows now. */
export const GAUGE_NOTIFICATION = "ullage/gauge";

/** Notification from the server: what a client that shows it should ask for anew. */
export const CHANGED_NOTIFICATION = "ullage/changed";

/** Notification from the server: what the user asked to have in the clipboard. */
export const COPY_NOTIFICATION = "ullage/copy";

/** Notification from the server: the user asked to go on with a session in a terminal. */
export const RESUME_NOTIFICATION = "ullage/resume";

/** Notification from the server: the user asked to see the terminal of an agent. */
export const TERMINAL_NOTIFICATION = "ullage/terminal";

/** Request from the server: what a command asks before it changes something. */
export const CONFIRM_QUESTION = "ullage/confirm";

export const STATUS_REQUEST = "ullage/status";
export const SESSIONS_REQUEST = "ullage/sessions";
export const WINDOW_REQUEST = "ullage/window";
export const HISTORY_REQUEST = "ullage/history";
export const USAGE_REQUEST = "ullage/usage";
export const CHECKPOINTS_REQUEST = "ullage/checkpoints";
export const MEMORY_REQUEST = "ullage/memory";
export const MEMORY_SEARCH_REQUEST = "ullage/memorySearch";
export const MEMORY_CHOSEN_REQUEST = "ullage/memoryChosen";
export const PREVIEW_REQUEST = "ullage/preview";
export const PRUNABLE_REQUEST = "ullage/prunable";
export const PINNABLE_REQUEST = "ullage/pinnable";

/** `workspace/executeCommand`: compact a session. The server asks for confirmation. */
export const COMPACT_COMMAND = "ullage.compact";

/** Plan a compaction, and open its two files by `window/showDocument`. */
export const PREVIEW_COMMAND = "ullage.preview";
export const APPLY_COMMAND = "ullage.apply";
export const REGENERATE_COMMAND = "ullage.regenerate";
export const DISCARD_COMMAND = "ullage.discard";
export const PRUNE_COMMAND = "ullage.prune";
export const UNDO_COMMAND = "ullage.undo";
export const REDO_COMMAND = "ullage.redo";
export const CHECKPOINT_COMMAND = "ullage.checkpoint";
export const RESTORE_COMMAND = "ullage.restore";
export const PIN_COMMAND = "ullage.pin";
export const UNPIN_COMMAND = "ullage.unpin";
export const AUTO_COMMAND = "ullage.auto";
export const SNOOZE_COMMAND = "ullage.snooze";
export const FLUSH_COMMAND = "ullage.flush";
export const ACCEPT_MEMORY_COMMAND = "ullage.acceptMemory";
export const DREAM_COMMAND = "ullage.dream";
export const REVIEW_MEMORY_COMMAND = "ullage.reviewMemory";
export const EDIT_MEMORY_ITEM_COMMAND = "ullage.editMemoryItem";
export const UNDO_REVIEW_COMMAND = "ullage.undoReview";
export const SHOW_COMMAND = "ullage.show";

/** Show a session until another is chosen; null goes back to the live one. */
export const CHOOSE_COMMAND = "ullage.choose";

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
  /** What the session is called: its title, its agent and the end of its id. */
  title: string;
  /** Of the status item: the gauge, limits where wanted, agent and title where others live. */
  itemText: string;
  /** Whether its user chose it, so that it stays. */
  isChosen: boolean;
  /** Whether it may be changed: Ullage writes to its agent's sessions, and the policy allows it. */
  canWrite: boolean;
  /** Whether Ullage may write beside it: checkpoints, memory, what is snoozed. */
  canNote: boolean;
  /** Whether it is compacted automatically. */
  isAutomatic: boolean;
}

export interface CopyParams {
  text: string;
}

/** What goes on with a session in a terminal. */
export interface ResumeParams {
  /** For a shell. */
  command: string;
  /** The one that the session's agent works in, as far as it is known. */
  folder: string | null;
}

export interface TerminalParams {
  /** The agent, its parent and so on; empty where the agent does not say which it is. */
  processes: number[];
}

export interface ConfirmParams {
  question: string;
  /** What changes and what is written where, a line each. */
  detail: string;
  button: string;
}

export interface ConfirmResult {
  isConfirmed: boolean;
}

export interface ChangedParams {
  what: ("sessions" | "checkpoints" | "memory")[];
}

export interface SessionArgument {
  /** Path of the transcript; null is the session that the gauge shows. */
  session: string | null;
}

export interface StatusResult {
  text: string;
}

/** A session of the workspace; the live one that was written to last comes first. */
export interface SessionRow {
  session: SessionRef;
  title: string;
  gauge: string;
  detail: string;
  level: "normal" | "warning" | "error";
  isLive: boolean;
  /** Whether the gauge shows it. */
  isShown: boolean;
  label: string;
  subagents: SessionRow[];
  /** As in `GaugeParams`. */
  canWrite: boolean;
  canNote: boolean;
  isAutomatic: boolean;
}

export interface SessionsResult {
  sessions: SessionRow[];
}

/** A share of the window, an entry of the context, a part of what is sent, or a pin. */
export interface WindowRow {
  /** Unique in the result, and the same from one result to the next. */
  key: string;
  /** A part of which something is not sent is cut. */
  kind: "category" | "entry" | "part" | "cut" | "advice" | "free" | "pins" | "pin" | "problem";
  title: string;
  detail: string;
  /** Markdown. */
  tooltip: string;
  label: string;
  nTokens: number;
  /** The file that a part comes from. */
  path: string | null;
  /** A document that shows an entry as readable chat. */
  uri: string | null;
  /** What `ullage.prune` takes; null where it cannot be pruned. */
  item: string | null;
  /** What `ullage.pin` takes; null where it cannot be pinned. */
  entry: string | null;
  /** The text that `ullage.unpin` takes; null where there is none to be removed. */
  pin: string | null;
  children: WindowRow[];
}

export interface WindowResult {
  session: SessionRef | null;
  headline: string;
  rows: WindowRow[];
}

export interface HistoryPoint {
  /** RFC 3339. */
  at: string | null;
  nTokens: number;
  /** Of the window, as the gauge has it. */
  share: string;
  isEstimated: boolean;
  entry: string | null;
}

/** A compaction or a prune, between the point before it and the one after it. */
export interface HistoryMark {
  /** Index of the first point after it; the number of points where none has followed. */
  nPoint: number;
  at: string | null;
  title: string;
  tokensBefore: number | null;
  tokensAfter: number | null;
  shareAfter: string | null;
}

export interface HistoryThreshold {
  name: string;
  atTokens: number;
}

export interface HistoryResult {
  session: SessionRef | null;
  title: string;
  windowTokens: number;
  points: HistoryPoint[];
  marks: HistoryMark[];
  thresholds: HistoryThreshold[];
}

export interface UsageDay {
  /** Tokens, as high as its bar. */
  nSent: number;
  cells: string[];
}

/** What the sessions of the workspace used; each row has a cell for each head. */
export interface UsageResult {
  title: string;
  heads: string[];
  days: UsageDay[];
  total: string[];
  notes: string[];
}

export interface CheckpointRow {
  checkpoint: string;
  path: string;
  title: string;
  detail: string;
  /** Markdown. */
  tooltip: string;
  label: string;
  isLatest: boolean;
  isReadable: boolean;
  /** The checkpoint that it follows, where that can be read. */
  previous: string | null;
}

export interface CheckpointsResult {
  session: SessionRef | null;
  rows: CheckpointRow[];
}

/** A file, an item that waits, a chunk recalled today, a change from outside, or a problem. */
export interface MemoryRow {
  path: string;
  kind: "memory" | "log" | "instructions" | "item" | "recall" | "change" | "problem";
  title: string;
  detail: string;
  label: string;
  /** Markdown. */
  tooltip: string;
  /** From 0, as `lastLine`. */
  firstLine: number | null;
  lastLine: number | null;
  /** A document that shows what changed. */
  uri: string | null;
  /** What `ullage.acceptMemory` takes; null where nothing can be accepted. */
  sha256: string | null;
  /** What `ullage.reviewMemory` takes; null where nothing can be reviewed. */
  item: string | null;
}

export interface MemoryResult {
  /** The files. */
  rows: MemoryRow[];
  /** What waits for a review. */
  inbox: MemoryRow[];
  recalled: MemoryRow[];
  changes: MemoryRow[];
  canDream: boolean;
  canUndoReview: boolean;
}

export interface MemorySearchArgument {
  query: string;
}

/** A chunk that answers a question; its texts are data, whatever they say. */
export interface MemoryHitRow {
  path: string;
  /** From 0, as `lastLine`. */
  firstLine: number;
  lastLine: number;
  /** The beginning of its text. */
  title: string;
  place: string;
  /** Its heading, and where it comes from. */
  detail: string;
}

export interface MemorySearchResult {
  /** Best first. */
  rows: MemoryHitRow[];
  /** What the user should know of the answer, or why there is none; empty for nothing. */
  message: string;
}

/** What the user chose among the answers to a question. */
export interface MemoryChosenArgument {
  query: string;
  path: string;
  firstLine: number;
}

export interface MemoryChosenResult {
  isNoted: boolean;
}

export interface AcceptMemoryArgument {
  path: string;
  /** Of the content that the user saw. */
  sha256: string;
}

export interface DreamArgument {
  /** A file of the folder that is meant; null is every folder of the workspace. */
  path: string | null;
}

export interface ReviewMemoryArgument {
  /** Of `DREAMS.md`. */
  path: string;
  /** `merge` accepts several items as one line, in the section of the first. */
  choice: "accept" | "reject" | "merge";
  ids: string[];
  /** The words that are accepted; null are those of the item, of several those of the first. */
  text: string | null;
  /** Whether the user has agreed already, so that the server need not ask. */
  isConfirmed: boolean;
}

export interface MemoryItemArgument {
  /** Of `DREAMS.md`. */
  path: string;
  id: string;
}

export interface UndoReviewArgument {
  /** A file of the folder that is meant; null is the one that was reviewed last. */
  path: string | null;
  /** The review that is meant; null is the last one. Another than the last is refused. */
  change: string | null;
}

/** Something that a placeholder could stand for. */
export interface PrunableRow {
  /** What `ullage.prune` takes. */
  item: string;
  title: string;
  detail: string;
  /** What is freed. */
  nTokens: number;
  /** Whether the rule for old output chooses it. */
  isChosen: boolean;
  /** A document that shows it as readable chat. */
  uri: string;
}

export interface PrunableResult {
  session: SessionRef | null;
  title: string;
  /** What the rule would free, or why it chooses nothing. */
  headline: string;
  rows: PrunableRow[];
}

/** A message that can be pinned. */
export interface PinnableRow {
  /** What `ullage.pin` takes. */
  entry: string;
  /** Its first words. */
  title: string;
  detail: string;
}

export interface PinnableResult {
  session: SessionRef | null;
  title: string;
  rows: PinnableRow[];
}

export interface PreviewArgument {
  session: string | null;
  /** Null is summarize, or full where that would do nothing. */
  layer: "summarize" | "full" | null;
  focus: string | null;
}

/** A compaction as two files: what goes, and what is proposed, which the user may edit. */
export interface Preview {
  preview: string;
  session: SessionRef;
  beforePath: string;
  proposedPath: string;
  title: string;
  tokensBefore: number;
  tokensAfter: number;
}

export interface PreviewResult {
  preview: Preview | null;
  /** Why there is nothing to preview, or what became of a proposal that the user edited. */
  message: string;
}

export interface ApplyArgument {
  preview: string;
}

export interface RegenerateArgument {
  preview: string;
  /** Null is the one of the preview before. */
  focus: string | null;
}

export interface PruneArgument {
  session: string | null;
  items: string[] | null;
  isEverything: boolean;
  /** Whether the user has agreed already, so that the server need not ask. */
  isConfirmed: boolean;
}

export interface UndoArgument {
  session: string | null;
  /** The change that an outcome named, asked about only where messages would be left behind, or where another server made it. Null is the last one, which is asked about. */
  change: string | null;
}

export interface RestoreArgument {
  session: string | null;
  /** Null is the latest. */
  checkpoint: string | null;
  into: "text" | "session" | "new";
}

export interface PinArgument {
  session: string | null;
  entry: string | null;
  text: string | null;
}

export interface UnpinArgument {
  session: string | null;
  /** Of the pin, of which a session has one. */
  text: string;
}

export interface AutoArgument {
  session: string | null;
  isOn: boolean;
}

/** A virtual document, for clients without `workspace/textDocumentContent`. */
export interface ShowArgument {
  uri: string;
}

/** What the user may want after a command: a button of that title. */
export interface NextCommand {
  title: string;
  command: string;
  argument: SessionArgument | PinArgument | UnpinArgument;
}

/** What became of a command; the user is told the message. */
export interface Outcome {
  outcome: "done" | "cancelled" | "nothing";
  message: string;
  /** Where the session goes on. */
  session: SessionRef | null;
  /** What `ullage.undo` takes; null where it does not undo this. */
  change: string | null;
  /** What `ullage.undoReview` takes, where that is how it is undone. */
  review: UndoReviewArgument | null;
  /** What was asked for, to be shown or copied. */
  text: string | null;
  /** What to show when the user asks for a view of it. */
  uri: string | null;
  /** The message does not have it. */
  resume: ResumeParams | null;
  next: NextCommand | null;
}

/** The argument and the result of each request. */
export interface Requests {
  [STATUS_REQUEST]: [SessionArgument, StatusResult];
  [SESSIONS_REQUEST]: [SessionArgument, SessionsResult];
  [WINDOW_REQUEST]: [SessionArgument, WindowResult];
  [HISTORY_REQUEST]: [SessionArgument, HistoryResult];
  [USAGE_REQUEST]: [SessionArgument, UsageResult];
  [CHECKPOINTS_REQUEST]: [SessionArgument, CheckpointsResult];
  [MEMORY_REQUEST]: [SessionArgument, MemoryResult];
  [MEMORY_SEARCH_REQUEST]: [MemorySearchArgument, MemorySearchResult];
  [MEMORY_CHOSEN_REQUEST]: [MemoryChosenArgument, MemoryChosenResult];
  [PREVIEW_REQUEST]: [PreviewArgument, PreviewResult];
  [PRUNABLE_REQUEST]: [SessionArgument, PrunableResult];
  [PINNABLE_REQUEST]: [SessionArgument, PinnableResult];
}

/** The argument and the result of each command. */
export interface Commands {
  [COMPACT_COMMAND]: [SessionArgument, Outcome];
  [PREVIEW_COMMAND]: [PreviewArgument, PreviewResult];
  [APPLY_COMMAND]: [ApplyArgument, Outcome];
  [REGENERATE_COMMAND]: [RegenerateArgument, PreviewResult];
  [DISCARD_COMMAND]: [ApplyArgument, Outcome];
  [PRUNE_COMMAND]: [PruneArgument, Outcome];
  [UNDO_COMMAND]: [UndoArgument, Outcome];
  [REDO_COMMAND]: [SessionArgument, Outcome];
  [CHECKPOINT_COMMAND]: [SessionArgument, Outcome];
  [RESTORE_COMMAND]: [RestoreArgument, Outcome];
  [PIN_COMMAND]: [PinArgument, Outcome];
  [UNPIN_COMMAND]: [UnpinArgument, Outcome];
  [AUTO_COMMAND]: [AutoArgument, Outcome];
  [SNOOZE_COMMAND]: [SessionArgument, Outcome];
  [FLUSH_COMMAND]: [SessionArgument, Outcome];
  [ACCEPT_MEMORY_COMMAND]: [AcceptMemoryArgument, Outcome];
  [DREAM_COMMAND]: [DreamArgument, Outcome];
  [REVIEW_MEMORY_COMMAND]: [ReviewMemoryArgument, Outcome];
  [EDIT_MEMORY_ITEM_COMMAND]: [MemoryItemArgument, Outcome];
  [UNDO_REVIEW_COMMAND]: [UndoReviewArgument, Outcome];
  [SHOW_COMMAND]: [ShowArgument, Outcome];
  [CHOOSE_COMMAND]: [SessionArgument, Outcome];
}
