/**
 * Ullage in pi: a gauge, pruned requests, checkpoints, memory, and its summaries in the place of pi's.
 *
 * Every decision is made by `ullage agent`; here pi's events become its questions, and its answers
 * pi's results. Where it has no answer, pi does what it does without us. The types are of both
 * pi 0.73 and the one that has moved to another name; nothing of either is imported at run time.
 */
import type {
  ExtensionAPI,
  ExtensionContext,
  SessionBeforeCompactEvent,
  ToolResultEvent,
} from "@mariozechner/pi-coding-agent";
import { compactionAnswer, compactionQuestion } from "./compaction.ts";
import { registerMemory } from "./memory_tools.ts";
import type { ToolResult } from "./protocol.ts";
import { Session } from "./session.ts";
import { registerCommands } from "./slash_commands.ts";

/** At the end of a turn pi looks first whether it compacts by itself. */
const SETTLE_MS = 250;
const MAX_ERROR_CHARS = 500;

export default function ullage(pi: ExtensionAPI): void {
  let session: Session | undefined;

  registerCommands(pi, () => session);
  registerMemory(pi, () => session);
  pi.on("session_start", (_event, ctx) => {
    session = new Session(ctx);
  });
  pi.on("session_shutdown", () => session?.service.close());
  pi.on("context", async ({ messages }, ctx) => ({
    messages: (await session?.prepare(messages, ctx)) ?? messages,
  }));
  pi.on("tool_result", (event) => {
    session?.service.notify("context/event", { events: [toolResult(event)] });
  });
  const compact = async (event: SessionBeforeCompactEvent, ctx: ExtensionContext) => {
    const { signal, preparation, branchEntries } = event;
    const compacted = await session?.compact(compactionQuestion(event), signal, ctx);
    return compacted && { compaction: compactionAnswer(compacted, preparation, branchEntries) };
  };
  let running: ReturnType<typeof compact> | undefined;
  pi.on("session_before_compact", async (event, ctx) => {
    if (running !== undefined) {
      // 0.73 takes a prompt while it compacts, and would compact the same once more for it.
      return (await running) === undefined ? undefined : { cancel: true };
    }
    running = compact(event, ctx);
    try {
      return await running;
    } finally {
      running = undefined;
    }
  });
  pi.on("session_compact", async (_event, ctx) => {
    try {
      const message = await session?.afterCompaction(ctx);
      if (message !== undefined) {
        pi.sendMessage(message, { triggerTurn: false });
      }
    } catch {
      // 0.73 compacts on while `pi -p` ends, and what it gave us is dead then.
    }
  });
  pi.on("before_agent_start", async (_event, ctx) => {
    // Where it could not be added to the session right after the compaction.
    const message = (await session?.dueCheckpoint(ctx)) ?? (await session?.dueOffer());
    return message && { message };
  });
  pi.on("agent_end", (_event, ctx) => {
    setTimeout(() => {
      // It fails where the session was replaced meanwhile, or pi is about to end.
      session?.compactIfWanted(ctx).catch(() => undefined);
    }, SETTLE_MS).unref();
  });
}

function toolResult({ toolCallId, toolName, input, isError, content }: ToolResultEvent): ToolResult {
  const [first] = content;
  return {
    type: "toolResult",
    callId: toolCallId,
    name: toolName,
    arguments: input,
    isError,
    error: isError && first?.type === "text" ? first.text.slice(0, MAX_ERROR_CHARS) : "",
    atMs: Date.now(),
  };
}
