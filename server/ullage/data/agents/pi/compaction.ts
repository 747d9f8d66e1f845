/** A compaction of pi as a question to the service, and its answer as pi's result. */
import type { SessionBeforeCompactEvent, SessionEntry } from "@mariozechner/pi-coding-agent";
import type { Compact, Compacted } from "./protocol.ts";

type Preparation = SessionBeforeCompactEvent["preparation"];

interface FileLists {
  readFiles: string[];
  modifiedFiles: string[];
}

interface Compaction {
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  details: object;
}

/** The cut is pi's own: all messages that it hands over are to be replaced. */
export function compactionQuestion(event: SessionBeforeCompactEvent): Omit<Compact, "session"> {
  const { preparation, branchEntries, customInstructions } = event;
  const messages = [...preparation.messagesToSummarize, ...preparation.turnPrefixMessages];
  return {
    messages,
    firstKeptIndex: messages.length,
    isSplitTurn: preparation.isSplitTurn,
    previousSummary: preparation.previousSummary ?? null,
    customInstructions: customInstructions ?? null,
    reason: compactionReason(event),
    compactionCount: nCompactions(branchEntries),
  };
}

export function compactionAnswer(
  { summary, details, checkpointId }: Compacted,
  { firstKeptEntryId, tokensBefore, fileOps }: Preparation,
  branch: readonly SessionEntry[],
): Compaction {
  return {
    summary,
    firstKeptEntryId,
    tokensBefore,
    details: { ...details, ...fileLists(fileOps, branch), ullage: { checkpointId } },
  };
}

export function nCompactions(branch: readonly SessionEntry[]): number {
  return branch.filter((entry) => entry.type === "compaction").length;
}

/** 0.73.1 does not say why it compacts; there, only a user gives instructions. */
function compactionReason(event: SessionBeforeCompactEvent): "manual" | "threshold" | "overflow" {
  const { reason, customInstructions } = event as { reason?: unknown; customInstructions?: string };
  if (reason === "manual" || reason === "overflow") {
    return reason;
  }
  return customInstructions === undefined ? "threshold" : "manual";
}

/** As pi lists them; it takes over those of the compaction before only where it wrote that itself. */
function fileLists(now: Preparation["fileOps"], branch: readonly SessionEntry[]): FileLists {
  const last = branch.findLast((entry) => entry.type === "compaction");
  const before = (last?.details ?? {}) as { readFiles?: unknown; modifiedFiles?: unknown };
  const modified = new Set([...strings(before.modifiedFiles), ...now.written, ...now.edited]);
  const read = new Set([...strings(before.readFiles), ...now.read]);
  return {
    readFiles: [...read].filter((path) => !modified.has(path)).sort(),
    modifiedFiles: [...modified].sort(),
  };
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
