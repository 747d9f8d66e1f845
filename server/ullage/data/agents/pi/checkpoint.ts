/**
 * The checkpoint that the model is given after a compaction, as a message of the session.
 *
 * It is kept there, not told beside it: so a session that is resumed, forked or exported holds
 * what the model was told, and the place of it does not change from request to request. Whether it
 * is due is read from the session itself, and so it is given once, whatever ends in between.
 */
import type { SessionEntry } from "@mariozechner/pi-coding-agent";
import type { Message } from "./notes.ts";

export const CHECKPOINT_TYPE = "ullage-checkpoint";

export interface CheckpointMessage {
  customType: string;
  content: string;
  display: boolean;
  details: { checkpointId: string | null };
}

export function checkpointMessage(content: string, checkpointId: string | null): CheckpointMessage {
  return { customType: CHECKPOINT_TYPE, content, display: false, details: { checkpointId } };
}

/** Whether the last compaction has a summary of ours and no checkpoint came after it. */
export function lacksCheckpoint(branch: readonly SessionEntry[]): boolean {
  const last = branch.findLast(
    (entry) => entry.type === "compaction" || (entry.type === "custom_message" && entry.customType === CHECKPOINT_TYPE),
  );
  return last?.type === "compaction" && typeof last.details === "object" && last.details !== null && "ullage" in last.details;
}

/** Whether a checkpoint is among the messages that is not older than their summary. */
export function holdsCheckpoint(messages: readonly Message[]): boolean {
  const since = messages.find((message) => message.role === "compactionSummary")?.timestamp ?? 0;
  return messages.some((message) => isCheckpoint(message) && message.timestamp >= since);
}

/** Leave out those of earlier compactions, which pi may have kept in front of the latest. */
export function withLatestCheckpoint(messages: readonly Message[]): Message[] {
  const latest = messages.findLast(isCheckpoint);
  return messages.filter((message) => message === latest || !isCheckpoint(message));
}

function isCheckpoint(message: Message): boolean {
  return message.role === "custom" && message.customType === CHECKPOINT_TYPE;
}
