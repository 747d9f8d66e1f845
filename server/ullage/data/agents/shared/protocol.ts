/**
 * What `ullage agent` and its callers say to each other, as far as they use it.
 *
 * `ullage/agent/protocol.py` and `memory_protocol.py` declare it; `tests/agent/test_protocol_mirror.py` holds both equal.
 */

export const PROTOCOL_VERSION = 1;
export const CANCEL_REQUEST = "$/cancelRequest";

export interface Open {
  agent: string;
  cwd: string;
  sessionKey?: string | null;
  sessionId?: string | null;
  sessionFile?: string | null;
  channel?: string | null;
  agentId?: string | null;
  messageFormat?: "openclaw" | "claude-code" | "codex" | "openai-chat" | null;
  model?: string | null;
  windowTokens?: number | null;
  compactionCount?: number | null;
  isReadOnly?: boolean;
  canTakeTurn?: boolean;
}

export interface Thresholds {
  gaugeTokens: number;
  checkpointTokens: number;
  pruneTokens: number;
  summarizeTokens: number;
  fullTokens: number;
  reserveTokens: number | null;
}

export interface Opened {
  session: string;
  version: number;
  sessionKey: string;
  checkpointId: string | null;
  windowTokens: number;
  windowSource: "setting" | "agent" | "configuration" | "model table" | "disproved" | "default";
  thresholds: Thresholds;
}

export interface ToolResult {
  type: "toolResult";
  callId: string;
  name: string;
  arguments?: unknown;
  isError?: boolean;
  error?: string;
  atMs?: number | null;
}

export interface NewMessage {
  type: "message";
  message: object;
}

export interface Capture {
  session: string;
  events: (ToolResult | NewMessage)[];
}

export interface Captured {
  nEvents: number;
}

export interface Usage {
  usedTokens?: number | null;
  nMessages?: number | null;
  windowTokens?: number | null;
}

export interface Prepare {
  session: string;
  messages: object[];
  entryIds?: string[] | null;
  usage?: Usage | null;
  compactionCount?: number | null;
}

export interface Replacement {
  index: number;
  message: object;
}

export interface GaugeReport {
  usedTokens: number | null;
  windowTokens: number;
  source: "reported" | "counted" | "estimated" | "unknown";
  windowSource: "setting" | "agent" | "configuration" | "model table" | "disproved" | "default";
  ratio: number | null;
}

export interface SystemEvent {
  kind: "checkpointRestore" | "advice" | "warning";
  text: string;
}

export interface Pruned {
  type: "pruned";
  nOutputs: number;
  nTokens: number;
}

export interface CheckpointWritten {
  type: "checkpointWritten";
  checkpointId: string;
  path: string;
}

export interface MemoryFlushed {
  type: "memoryFlushed";
  path: string | null;
  by: "model" | "extract" | "nothing";
}

export interface FlushTurn {
  type: "flushTurn";
  prompt: string;
  systemPrompt: string;
  logPath: string;
}

export interface CompactNow {
  type: "compact";
  layer: "prune" | "summarize" | "full";
  reason: string;
  advice: string | null;
}

export interface AskUser {
  type: "askUser";
  layer: "prune" | "summarize" | "full";
  reason: string;
  advice: string | null;
}

export interface WarnUser {
  type: "warn";
  reason: string;
}

export interface Prepared {
  replacements: Replacement[];
  gauge: GaugeReport;
  gaugeLine: string | null;
  systemEvents: SystemEvent[];
  actions: (Pruned | CheckpointWritten | MemoryFlushed | FlushTurn | CompactNow | AskUser | WarnUser)[];
  notes: string[];
}

export interface Decline {
  session: string;
  layer: "prune" | "summarize" | "full";
}

export interface Compact {
  session: string;
  messages: object[];
  entryIds?: string[] | null;
  firstKeptIndex?: number | null;
  firstKeptEntryId?: string | null;
  isSplitTurn?: boolean;
  previousSummary?: string | null;
  customInstructions?: string | null;
  layer?: "summarize" | "full";
  reason?: "threshold" | "manual" | "overflow";
  usage?: Usage | null;
  compactionCount?: number | null;
}

export interface Audit {
  putBack: Record<string, number>;
  leftOut: number;
  compressionRatio: number | null;
}

export interface CompactionResult {
  summary: string;
  firstKeptEntryId: string | null;
  tokensBefore: number;
  details: object;
}

export interface Compacted {
  ok: boolean;
  compacted: boolean;
  reason: string | null;
  result: CompactionResult;
  summary: string;
  summaryMessage: object;
  firstKeptIndex: number;
  standingIndexes: number[];
  firstKeptEntryId: string | null;
  details: object;
  tokensBefore: number;
  tokensAfter: number;
  author: string;
  checkpointId: string | null;
  notes: string[];
  audit: Audit;
}

export interface Resume {
  session: string;
}

export interface Resumed {
  text: string | null;
  checkpointId: string | null;
  problem: string | null;
}

export interface Offer {
  session: string;
}

export interface Offered {
  text: string | null;
  note: string | null;
  checkpointId: string | null;
}

export interface Close {
  session: string;
}

export interface SearchMemory {
  cwd: string;
  session?: string | null;
  query: string;
  limit?: number;
  scope?: "all" | "memory" | "documents";
  since?: string | null;
  by?: "user" | "agent" | "ullage";
}

export interface MemoryHit {
  path: string;
  firstLine: number;
  lastLine: number;
  heading: string;
  text: string;
  origin: "user" | "agent" | "file" | "tool" | "web" | "unknown";
  score: number;
  by: "words" | "vectors" | "both";
}

export interface MemoryFound {
  results: MemoryHit[];
  note: string | null;
  text: string;
}

export interface GetMemory {
  cwd: string;
  session?: string | null;
  path: string;
  firstLine?: number;
  nLines?: number;
}

export interface MemoryLines {
  path: string;
  firstLine: number;
  lastLine: number;
  nLines: number;
  origin: "user" | "agent" | "file" | "tool" | "web" | "unknown";
  lines: string;
  text: string;
}

export interface StoreMemory {
  cwd: string;
  session?: string | null;
  text: string;
  kind: "fact" | "decision" | "preference" | "command" | "dead-end";
  source?: string | null;
  by?: "user" | "agent";
}

export interface MemoryStored {
  path: string | null;
  item: string;
  note: string;
}

/** The methods that we call, with what they take beside the session's handle, and what they give. */
export interface Methods {
  "context/event": [Omit<Capture, "session">, Captured];
  "context/prepare": [Omit<Prepare, "session">, Prepared];
  "context/decline": [Omit<Decline, "session">, object];
  "context/compact": [Omit<Compact, "session">, Compacted];
  "context/resume": [object, Resumed];
  "context/offer": [object, Offered];
  "context/close": [object, object];
  "memory/search": [Omit<SearchMemory, "session">, MemoryFound];
  "memory/get": [Omit<GetMemory, "session">, MemoryLines];
  "memory/store": [Omit<StoreMemory, "session">, MemoryStored];
}
