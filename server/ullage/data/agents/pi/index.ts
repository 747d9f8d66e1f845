/**
 * Ullage in pi: a gauge, pruned requests, checkpoints, and its summaries in the place of pi's own.
 *
 * Every decision is made by `ullage agent`; here pi's events become its questions, and its answers
 * pi's results. Where it has no answer, pi does what it does without us.
 */
import type { ExtensionAPI, ExtensionContext, SessionEntry } from "@mariozechner/pi-coding-agent";
import { Service, serviceCommand } from "./client.ts";
import { CHECKPOINT_TYPE, type Message, type Note, Notes } from "./notes.ts";
import type { AskUser, GaugeReport, Open, Prepared, SystemEvent } from "./protocol.ts";

const STATUS_KEY = "ullage";
/** At every request to the model: what the user waits for at most. */
const PREPARE_TIMEOUT_MS = 1000;
/** The service's own model has less, and it falls back on a summary without one. */
const COMPACT_TIMEOUT_MS = 300_000;
const QUESTION_TIMEOUT_MS = 60_000;
/** After the end of a turn pi looks first whether it wants to compact by itself. */
const SETTLE_MS = 250;
const MAX_ERROR_CHARS = 500;

export default function ullage(pi: ExtensionAPI): void {
  const notes = new Notes();
  let service: Service | undefined;
  let wanted: "now" | AskUser | undefined;
  let gaugePercent: number | undefined;
  let isRestored = false;
  const told = new Set<string>();

  const tell = (ctx: ExtensionContext, text: string): void => {
    if (!told.has(text)) {
      told.add(text);
      ctx.ui.notify(`Ullage: ${text}`, "warning");
    }
  };

  const tellIfGivenUp = (ctx: ExtensionContext): void => {
    if (service?.isGivenUp === true) {
      ctx.ui.setStatus(STATUS_KEY, undefined);
      tell(ctx, `pi goes on without it, since ${service.problem ?? "it ended"}`);
    }
  };

  const restore = async (ctx: ExtensionContext): Promise<ReturnType<typeof checkpointMessage> | undefined> => {
    if (!lacksCheckpoint(ctx.sessionManager.getBranch())) {
      return undefined;
    }
    const resumed = await service?.ask("context/resume", {}, { timeoutMs: PREPARE_TIMEOUT_MS });
    return resumed?.text == null ? undefined : checkpointMessage(resumed.text, resumed.checkpointId);
  };

  /** What the model is to be told now; a checkpoint only if the session does not hold it already. */
  const news = (prepared: Prepared): Note[] => {
    const events: Note[] = prepared.systemEvents.filter(
      (event: SystemEvent) => event.kind !== "checkpointRestore" || !isRestored,
    );
    const { ratio } = prepared.gauge;
    const percent = ratio === null ? undefined : Math.floor(ratio * 100);
    if (prepared.gaugeLine !== null && percent !== gaugePercent) {
      gaugePercent = percent;
      return [...events, { kind: "gauge", text: prepared.gaugeLine }];
    }
    return events;
  };

  const act = (ctx: ExtensionContext, prepared: Prepared): void => {
    for (const action of prepared.actions) {
      if (action.type === "compact") {
        wanted = "now";
      } else if (action.type === "askUser") {
        wanted ??= action;
      } else if (action.type === "warn") {
        tell(ctx, action.reason);
      }
    }
  };

  const compactIfWanted = async (ctx: ExtensionContext): Promise<void> => {
    const [asked] = [wanted];
    if (asked === undefined || !ctx.isIdle()) {
      return;
    }
    wanted = undefined;
    if (asked !== "now") {
      const answer =
        ctx.hasUI &&
        (await ctx.ui.confirm("Compact the session?", [asked.reason, asked.advice ?? ""].join("\n").trim(), {
          timeout: QUESTION_TIMEOUT_MS,
        }));
      if (!answer) {
        service?.notify("context/decline", { layer: asked.layer });
        return;
      }
    }
    if (ctx.isIdle()) {
      ctx.compact({ onError: () => undefined });
    }
  };

  pi.on("session_start", (_event, ctx) => {
    service = new Service(serviceCommand(), () => opening(ctx));
    service.start();
  });

  pi.on("session_shutdown", async () => {
    await service?.close();
  });

  pi.on("before_agent_start", async (_event, ctx) => {
    const message = await restore(ctx);
    if (message === undefined) {
      return undefined;
    }
    isRestored = true;
    notes.drop("checkpointRestore");
    return { message };
  });

  pi.on("context", async ({ messages }, ctx) => {
    const usage = ctx.getContextUsage();
    const prepared = await service?.ask(
      "context/prepare",
      {
        messages,
        usage: usage === undefined ? null : { usedTokens: usage.tokens, windowTokens: usage.contextWindow },
      },
      { timeoutMs: PREPARE_TIMEOUT_MS },
    );
    if (prepared === undefined) {
      tellIfGivenUp(ctx);
      return { messages: notes.insert(messages, []) };
    }
    act(ctx, prepared);
    ctx.ui.setStatus(STATUS_KEY, statusText(prepared.gauge));
    return { messages: notes.insert(replaced(messages, prepared), news(prepared)) };
  });

  pi.on("tool_result", (event) => {
    const [first] = event.content;
    service?.notify("context/event", {
      events: [
        {
          type: "toolResult",
          callId: event.toolCallId,
          name: event.toolName,
          arguments: event.input,
          isError: event.isError,
          error: event.isError && first?.type === "text" ? first.text.slice(0, MAX_ERROR_CHARS) : "",
          atMs: Date.now(),
        },
      ],
    });
  });

  pi.on("session_before_compact", async (event, ctx) => {
    wanted = undefined;
    const { preparation, branchEntries, customInstructions, signal } = event;
    const messages = [...preparation.messagesToSummarize, ...preparation.turnPrefixMessages];
    const compacted = await service?.ask(
      "context/compact",
      {
        messages,
        firstKeptIndex: messages.length,
        isSplitTurn: preparation.isSplitTurn,
        previousSummary: preparation.previousSummary ?? null,
        customInstructions: customInstructions ?? null,
        reason: compactionReason(event),
        compactionCount: nCompactions(branchEntries),
      },
      { timeoutMs: COMPACT_TIMEOUT_MS, signal },
    );
    if (compacted === undefined) {
      if (!signal.aborted && service?.problem !== undefined) {
        tell(ctx, `pi writes the summary itself, since ${service.problem}`);
      }
      return undefined;
    }
    return {
      compaction: {
        summary: compacted.summary,
        firstKeptEntryId: preparation.firstKeptEntryId,
        tokensBefore: preparation.tokensBefore,
        details: {
          ...compacted.details,
          ...fileLists(preparation.fileOps, branchEntries),
          ullage: { checkpointId: compacted.checkpointId },
        },
      },
    };
  });

  pi.on("session_compact", async (_event, ctx) => {
    isRestored = false;
    gaugePercent = undefined;
    ctx.ui.setStatus(STATUS_KEY, undefined);
    const message = await restore(ctx);
    if (message !== undefined) {
      pi.sendMessage(message, { triggerTurn: false });
      isRestored = true;
    }
  });

  pi.on("agent_end", (_event, ctx) => {
    setTimeout(() => {
      compactIfWanted(ctx).catch(() => undefined); // the session was replaced meanwhile
    }, SETTLE_MS).unref();
  });
}

function opening(ctx: ExtensionContext): Open {
  const { sessionManager, model } = ctx;
  const sessionFile = sessionManager.getSessionFile() ?? null;
  return {
    agent: "pi",
    cwd: ctx.cwd,
    sessionId: sessionManager.getSessionId(),
    sessionFile,
    model: model?.id ?? null,
    provider: model?.provider ?? null,
    windowTokens: model?.contextWindow ?? null,
    compactionCount: nCompactions(sessionManager.getBranch()),
    isReadOnly: sessionFile === null, // `--no-session`: nothing of it is to be kept
    canTakeTurn: false,
  };
}

function nCompactions(branch: readonly SessionEntry[]): number {
  return branch.filter((entry) => entry.type === "compaction").length;
}

/** Whether the last compaction is ours and no checkpoint came after it. */
function lacksCheckpoint(branch: readonly SessionEntry[]): boolean {
  const last = branch.findLast(
    (entry) => entry.type === "compaction" || (entry.type === "custom_message" && entry.customType === CHECKPOINT_TYPE),
  );
  return last?.type === "compaction" && last.fromHook === true && typeof last.details === "object" && "ullage" in (last.details ?? {});
}

function checkpointMessage(content: string, checkpointId: string | null) {
  return { customType: CHECKPOINT_TYPE, content, display: false, details: { checkpointId } };
}

function replaced(messages: readonly Message[], { replacements }: Prepared): Message[] {
  const others = new Map(replacements.map(({ index, message }) => [index, message as Message]));
  return messages.map((message, index) => others.get(index) ?? message);
}

/** 0.73.1 does not say why it compacts; only a user gives instructions. */
function compactionReason(event: object & { customInstructions?: string }): "manual" | "threshold" | "overflow" {
  const reason = "reason" in event ? event.reason : undefined;
  if (reason === "manual" || reason === "overflow") {
    return reason;
  }
  return event.customInstructions === undefined ? "threshold" : "manual";
}

interface FileLists {
  readFiles: string[];
  modifiedFiles: string[];
}

/** As pi lists them; it takes over those of the compaction before only where it wrote that itself. */
function fileLists(
  now: { read: Set<string>; written: Set<string>; edited: Set<string> },
  branch: readonly SessionEntry[],
): FileLists {
  const last = branch.findLast((entry) => entry.type === "compaction");
  const before = (last?.type === "compaction" ? last.details : undefined) as Partial<FileLists> | undefined;
  const modified = new Set([...strings(before?.modifiedFiles), ...now.written, ...now.edited]);
  const read = new Set([...strings(before?.readFiles), ...now.read]);
  return {
    readFiles: [...read].filter((path) => !modified.has(path)).sort(),
    modifiedFiles: [...modified].sort(),
  };
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** For instance `◔ 42% · 84k/200k`; `~` stands for an estimate, `?` for what nobody knows. */
function statusText({ usedTokens, windowTokens, ratio, source }: GaugeReport): string {
  const window = thousands(windowTokens);
  if (usedTokens === null || ratio === null) {
    return `◌ ? · ${window}`;
  }
  const circle = "○◔◑◕●".charAt(Math.max(0, Math.min(4, Math.floor(ratio * 4))));
  const about = source === "reported" || source === "counted" ? "" : "~";
  return `${circle} ${about}${Math.round(ratio * 100)}% · ${thousands(usedTokens)}/${window}`;
}

function thousands(nTokens: number): string {
  return nTokens < 1000 ? `${nTokens}` : `${Math.round(nTokens / 1000)}k`;
}
