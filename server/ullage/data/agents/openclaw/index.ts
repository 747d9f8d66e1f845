/**
 * Ullage in OpenClaw: it writes the summaries of compactions, each with the session's checkpoint,
 * and keeps what the agent stores in memory.
 *
 * Without an answer OpenClaw writes its own summary. The checkpoint is a part of the summary: so it
 * is there at the very next request, within a turn too, and OpenClaw keeps it as long. The service
 * runs for the time of a compaction only; a gateway has many sessions, and few compact at a time.
 */
import { homedir } from "node:os";
import { Service, serviceCommand } from "./client.ts";
import { COMMAND_NAMES, isCommand, parseCommand, runCommand } from "./commands.ts";
import { MEMORY_TOOLS, type MemoryTool } from "./memory.ts";
import type { Open } from "./protocol.ts";

/** OpenClaw gives a compaction 180 s in all, its own summary included if ours fails. */
const COMPACT_TIMEOUT_MS = 120_000;
const RESUME_TIMEOUT_MS = 5000;
/** A compaction that did not report its end by then has none. */
const STALE_MS = 600_000;
/** What stands in the place of the user's words where there are none (2026.9.6). */
const OPENCLAW_DEFAULT = "Write the summary body in the primary language used in the conversation.";
const CHECKPOINT = /\s*<ullage-checkpoint>[^]*?<\/ullage-checkpoint>/g;

/** What we use of OpenClaw's plug-in API, as of 2026.9. */
interface PluginApi {
  on: {
    (name: "before_compaction" | "after_compaction", handler: (event: object, ctx: SessionContext) => void): void;
    (name: "before_prompt_build", handler: (event: PromptEvent, ctx: SessionContext) => Promise<PromptAddition | undefined>): void;
  };
  registerCompactionProvider: (provider: CompactionProvider) => void;
  registerCommand?: (command: ChatCommand) => void;
  registerTool?: (make: (ctx: ToolContext) => AgentTool[], options: { names: string[] }) => void;
  logger?: { warn?: (message: string) => void };
}

interface PromptEvent {
  messages?: unknown[];
}

interface PromptAddition {
  prependContext: string;
}

interface SessionContext {
  sessionId?: string;
  sessionKey?: string;
  workspaceDir?: string;
  agentId?: string;
  messageProvider?: string;
}

interface ToolContext extends SessionContext {
  config?: { plugins?: { slots?: { memory?: string } } };
}

interface AgentTool {
  name: string;
  label: string;
  description: string;
  parameters: object;
  execute: (callId: string, given: unknown, signal?: AbortSignal) => Promise<{ content: { type: "text"; text: string }[] }>;
}

interface ChatCommand {
  name: string;
  description: string;
  acceptsArgs: boolean;
  handler: (ctx: CommandContext) => Promise<{ text: string }>;
}

interface CommandContext {
  args?: string;
  sessionKey?: string;
  sessionId?: string;
  sessionFile?: string;
}

interface CompactionProvider {
  id: string;
  label: string;
  summarize: (request: SummaryRequest) => Promise<string>;
}

interface SummaryRequest {
  messages: object[];
  signal?: AbortSignal;
  customInstructions?: string;
  previousSummary?: string;
}

interface Running {
  session: SessionContext;
  startedMs: number;
}

const plugin = {
  id: "ullage",
  name: "Ullage",
  description: "Compaction with checked summaries and checkpoints",
  register(api: PluginApi): void {
    const running = new Map<string, Running>();
    api.on("before_compaction", (_event, session) => {
      if (session.sessionKey !== undefined) {
        running.set(session.sessionKey, { session, startedMs: Date.now() });
      }
    });
    api.on("after_compaction", (_event, { sessionKey = "" }) => {
      running.delete(sessionKey);
    });
    api.on("before_prompt_build", async ({ messages }, session) =>
      messages?.length === 0 ? await offer(session) : undefined,
    );
    api.registerCompactionProvider({
      id: "ullage",
      label: "Ullage",
      summarize: async (request) => summarize(request, onlyOne(running), api),
    });
    // Its own /compact, with our summary, and /new are reserved names.
    api.registerCommand?.({
      name: "ullage",
      description: `Ullage: ${COMMAND_NAMES.join(", ")}`,
      acceptsArgs: true,
      handler: async (ctx) => ({ text: await command(ctx) }),
    });
    api.registerTool?.((ctx) => memoryTools(ctx), { names: MEMORY_TOOLS.map(nameOf) });
  },
};

export default plugin;

/** `memory_search` and `memory_get` are OpenClaw's own, as long as it has a memory. */
function memoryTools(ctx: ToolContext): AgentTool[] {
  const hasOwn = ctx.config?.plugins?.slots?.memory !== "none";
  return MEMORY_TOOLS.filter(({ name }) => name === "memory_store" || !hasOwn).map((tool) => ({
    name: nameOf(tool),
    label: tool.label,
    description: tool.description,
    parameters: tool.parameters,
    execute: async (_callId, given, signal) => {
      const service = new Service(serviceCommand(), () => opening(ctx));
      try {
        const text = await tool.ask(service, ctx.workspaceDir ?? homedir(), given, signal);
        return { content: [{ type: "text", text }] };
      } finally {
        await service.close();
      }
    },
  }));
}

/** A name that no other plug-in has; behind `__` it is what pruning protects. */
function nameOf({ name }: MemoryTool): string {
  return `ullage__${name}`;
}

async function summarize(request: SummaryRequest, session: SessionContext | undefined, api: PluginApi): Promise<string> {
  if (session === undefined) {
    api.logger?.warn?.("Ullage wrote no summary: it was not told of which session");
    return "";
  }
  const { messages, signal, customInstructions, previousSummary } = request;
  const service = new Service(serviceCommand(), () => opening(session));
  try {
    const compacted = await service.ask(
      "context/compact",
      {
        messages,
        firstKeptIndex: messages.length,
        previousSummary: previousSummary?.replaceAll(CHECKPOINT, "") ?? null,
        customInstructions: focusOf(customInstructions),
      },
      { timeoutMs: COMPACT_TIMEOUT_MS, signal },
    );
    if (compacted === undefined) {
      api.logger?.warn?.(`Ullage wrote no summary: ${service.problem ?? "canceled"}`);
      return "";
    }
    const resumed = await service.ask("context/resume", {}, { timeoutMs: RESUME_TIMEOUT_MS, signal });
    return resumed?.text == null
      ? compacted.summary
      : `${compacted.summary}\n\n<ullage-checkpoint>\n${resumed.text}\n</ullage-checkpoint>`;
  } finally {
    await service.close();
  }
}

/** A new session of the same key is given the state that the last one left. */
async function offer(session: SessionContext): Promise<PromptAddition | undefined> {
  if (session.sessionKey === undefined) {
    return undefined;
  }
  const service = new Service(serviceCommand(), () => opening(session));
  try {
    const offered = await service.ask("context/offer", {}, { timeoutMs: RESUME_TIMEOUT_MS });
    return offered?.text == null
      ? undefined
      : { prependContext: `<ullage-checkpoint>\n${offered.text}\n</ullage-checkpoint>` };
  } finally {
    await service.close();
  }
}

async function command({ args, sessionKey, sessionId, sessionFile }: CommandContext): Promise<string> {
  const { name, rest } = parseCommand(args ?? "");
  if (!isCommand(name)) {
    return `There is no /ullage ${name}: ${COMMAND_NAMES.join(", ")}`;
  }
  if (name === "restore" && rest === "" && sessionKey !== undefined) {
    // By the key stands what was saved at compactions, whichever transcript went on since.
    const service = new Service(serviceCommand(), () => opening({ sessionKey }));
    const resumed = await service.ask("context/resume", {}, { timeoutMs: RESUME_TIMEOUT_MS });
    await service.close();
    if (resumed?.text != null) {
      return resumed.text;
    }
  }
  const session = sessionFile ?? sessionId;
  return session === undefined
    ? "OpenClaw does not say here which session this is"
    : (await runCommand(name, rest, session, homedir())).text;
}

/** A provider is not told whose messages it is given; while two sessions compact, nobody knows. */
function onlyOne(running: Map<string, Running>): SessionContext | undefined {
  for (const [key, { startedMs }] of running) {
    if (Date.now() - startedMs > STALE_MS) {
      running.delete(key);
    }
  }
  const [first, second] = running.values();
  return second === undefined ? first?.session : undefined;
}

function opening({ sessionKey, sessionId, workspaceDir, agentId, messageProvider }: SessionContext): Open {
  return {
    agent: "openclaw",
    cwd: workspaceDir ?? homedir(),
    sessionKey: sessionKey ?? null,
    sessionId: sessionId ?? null,
    channel: messageProvider ?? null,
    agentId: agentId ?? null,
  };
}

/** What the user said behind `/compact`; around it, or for it, stands how OpenClaw's own is to look. */
function focusOf(instructions = ""): string | null {
  const [, block = ""] = instructions.split("Additional context from /compact");
  const said = /<untrusted-text>\s*([^]*?)\s*<\/untrusted-text>/.exec(block)?.[1];
  return said === undefined || said.startsWith(OPENCLAW_DEFAULT) ? null : said;
}
