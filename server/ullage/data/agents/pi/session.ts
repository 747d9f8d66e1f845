/** What is known of pi's running session between its events, and what the service is asked about it. */
import type { ExtensionContext } from "@mariozechner/pi-coding-agent";
import {
  type CheckpointMessage,
  checkpointMessage,
  holdsCheckpoint,
  lacksCheckpoint,
  withLatestCheckpoint,
} from "./checkpoint.ts";
import { Service, serviceCommand } from "./client.ts";
import { nCompactions } from "./compaction.ts";
import { type Message, type Note, Notes } from "./notes.ts";
import type { AskUser, Compact, Compacted, CompactNow, Offered, Open, Prepared } from "./protocol.ts";
import { statusText, unknownText } from "./status.ts";

const STATUS_KEY = "ullage";
/** At every request to the model: what the user waits for us at most. */
const PREPARE_TIMEOUT_MS = 1000;
/** The service gives its own model less, and has a summary without one then. */
const COMPACT_TIMEOUT_MS = 300_000;
const QUESTION_TIMEOUT_MS = 60_000;
/** Nobody waits so long for it; a new interpreter may. */
const OFFER_TIMEOUT_MS = 20_000;
const OFFER_TYPE = "ullage-offer";

interface OfferMessage {
  customType: string;
  content: string;
  display: boolean;
}

export class Session {
  readonly service: Service;
  private readonly notes = new Notes();
  private readonly told = new Set<string>();
  private gaugePercent: number | undefined;
  private wanted: CompactNow | AskUser | undefined;
  /** What the last session left, until it was told. */
  private offer: Promise<Offered | undefined> | undefined;
  /** A checkpoint that pi adds to the session at the end of the running turn only. */
  private awaited: CheckpointMessage | undefined;

  constructor(ctx: ExtensionContext) {
    const open = opening(ctx);
    this.service = new Service(serviceCommand(), () => open);
    if (isFresh(ctx)) {
      this.offer = this.service.ask("context/offer", {}, { timeoutMs: OFFER_TIMEOUT_MS });
      this.showOffer(ctx).catch(() => undefined);
    }
    this.showWindow(ctx).catch(() => undefined); // the session was replaced meanwhile
  }

  /** Give the messages of one request, which are not what the session keeps. */
  async prepare(messages: readonly Message[], ctx: ExtensionContext): Promise<Message[]> {
    const usage = ctx.getContextUsage();
    const prepared = await this.service.ask(
      "context/prepare",
      {
        messages: [...messages],
        // pi estimates what follows the last answer, and adds it.
        usage:
          usage === undefined
            ? null
            : { usedTokens: usage.tokens, nMessages: messages.length, windowTokens: usage.contextWindow },
      },
      { timeoutMs: PREPARE_TIMEOUT_MS },
    );
    if (prepared === undefined) {
      this.tellIfAway(ctx);
      return this.notes.insert(withLatestCheckpoint(messages), []);
    }
    ctx.ui.setStatus(STATUS_KEY, statusText(prepared.gauge));
    this.takeActions(prepared, ctx);
    const sent = messages.map((message) => message);
    for (const { index, message } of prepared.replacements) {
      sent[index] = message as Message;
    }
    return this.notes.insert(withLatestCheckpoint(sent), this.news(prepared, holdsCheckpoint(messages)));
  }

  async compact(
    question: Omit<Compact, "session">,
    signal: AbortSignal,
    ctx: ExtensionContext,
  ): Promise<Compacted | undefined> {
    this.wanted = undefined;
    const compacted = await this.service.ask("context/compact", question, { timeoutMs: COMPACT_TIMEOUT_MS, signal });
    if (compacted !== undefined || signal.aborted || this.service.isClosed) {
      return compacted;
    }
    if (!this.service.isAway) {
      this.tell(ctx, `pi writes the summary by itself: ${this.service.problem ?? "it ended"}`);
    }
    this.tellIfAway(ctx);
    return undefined;
  }

  /** Forget the gauge, and give the checkpoint if it may be added now. */
  async afterCompaction(ctx: ExtensionContext): Promise<CheckpointMessage | undefined> {
    this.gaugePercent = undefined;
    this.notes.drop("gauge");
    ctx.ui.setStatus(STATUS_KEY, undefined); // unknown until the next request
    // `pi -p` prints the session's last message; there it waits for the next prompt.
    this.awaited = ctx.hasUI ? await this.dueCheckpoint(ctx) : undefined;
    return this.awaited;
  }

  /** Forget what was told of the shorter context, and let it be this long for a while. */
  afterUndo(ctx: ExtensionContext): void {
    this.wanted = undefined;
    this.gaugePercent = undefined;
    this.notes.drop("gauge");
    ctx.ui.setStatus(STATUS_KEY, undefined);
    this.service.notify("context/decline", { layer: "summarize" });
  }

  async dueCheckpoint(ctx: ExtensionContext): Promise<CheckpointMessage | undefined> {
    if (!lacksCheckpoint(ctx.sessionManager.getBranch())) {
      return undefined;
    }
    const resumed = await this.service.ask("context/resume", {}, { timeoutMs: PREPARE_TIMEOUT_MS });
    return resumed?.text == null ? undefined : checkpointMessage(resumed.text, resumed.checkpointId);
  }

  /** What a fresh session is told of the last one, once; the user's first message waits a moment for it. */
  async dueOffer(): Promise<OfferMessage | undefined> {
    const late = new Promise<void>((resolve) => setTimeout(resolve, PREPARE_TIMEOUT_MS).unref());
    const offered = await Promise.race([this.offer, late]);
    if (!offered) {
      return undefined;
    }
    this.offer = undefined;
    return offered.text === null ? undefined : { customType: OFFER_TYPE, content: offered.text, display: false };
  }

  /** Do what a request was not the moment for. */
  async compactIfWanted(ctx: ExtensionContext): Promise<void> {
    const wanted = this.wanted;
    if (wanted === undefined || !ctx.isIdle()) {
      return;
    }
    this.wanted = undefined;
    if (wanted.type === "askUser") {
      const text = wanted.advice === null ? wanted.reason : `${wanted.reason}\n${wanted.advice}`;
      if (!ctx.hasUI || !(await ctx.ui.confirm("Compact the session?", text, { timeout: QUESTION_TIMEOUT_MS }))) {
        this.service.notify("context/decline", { layer: wanted.layer });
        return;
      }
    }
    if (ctx.isIdle()) {
      ctx.compact({ onError: () => undefined });
    }
  }

  private async showWindow(ctx: ExtensionContext): Promise<void> {
    const opened = await this.service.start();
    if (opened !== undefined) {
      ctx.ui.setStatus(STATUS_KEY, unknownText(opened.windowTokens));
    }
  }

  private async showOffer(ctx: ExtensionContext): Promise<void> {
    const offered = await this.offer;
    if (offered?.note != null) {
      ctx.ui.notify(offered.note, "info");
    }
  }

  /** What was wanted at an earlier request, and is not any more, is not done. */
  private takeActions({ actions }: Prepared, ctx: ExtensionContext): void {
    this.wanted = undefined;
    for (const action of actions) {
      if (action.type === "compact" || action.type === "askUser") {
        this.wanted = action;
      } else if (action.type === "warn") {
        this.tell(ctx, action.reason);
      }
    }
  }

  /** What the model is to be told from now on; the gauge only where it moved by a percent. */
  private news({ systemEvents, gauge, gaugeLine }: Prepared, isRestored: boolean): Note[] {
    const notes: Note[] = [...systemEvents];
    if (this.awaited !== undefined) {
      notes.unshift({ kind: "checkpointRestore", text: this.awaited.content });
    }
    this.awaited = undefined;
    if (isRestored) {
      this.notes.drop("checkpointRestore");
    }
    const percent = gauge.ratio === null ? undefined : Math.floor(gauge.ratio * 100);
    if (gaugeLine !== null && percent !== this.gaugePercent) {
      this.gaugePercent = percent;
      notes.push({ kind: "gauge", text: gaugeLine });
    }
    const first = notes.find((note) => note.kind === "checkpointRestore");
    return notes.filter((note) => note.kind !== "checkpointRestore" || (note === first && !isRestored));
  }

  private tellIfAway(ctx: ExtensionContext): void {
    if (this.service.isAway) {
      ctx.ui.setStatus(STATUS_KEY, undefined);
      this.tell(ctx, `pi goes on without it: ${this.service.problem ?? "it ended"}`);
    }
  }

  /** The same thing is said once. */
  private tell(ctx: ExtensionContext, text: string): void {
    if (!this.told.has(text)) {
      this.told.add(text);
      ctx.ui.notify(`Ullage: ${text}`, "warning");
    }
  }
}

/** Whether nothing was said in a session yet, nor taken over from another. */
function isFresh({ sessionManager }: ExtensionContext): boolean {
  const past = ["message", "custom_message", "compaction", "branch_summary"];
  return !sessionManager.getBranch().some(({ type }) => past.includes(type));
}

function opening({ cwd, model, sessionManager }: ExtensionContext): Open {
  const sessionFile = sessionManager.getSessionFile() ?? null;
  return {
    agent: "pi",
    cwd,
    sessionId: sessionManager.getSessionId(),
    sessionFile,
    model: model?.id ?? null,
    windowTokens: model?.contextWindow ?? null,
    compactionCount: nCompactions(sessionManager.getBranch()),
    isReadOnly: sessionFile === null, // `--no-session`: nothing of it is to be kept
    canTakeTurn: false,
  };
}
