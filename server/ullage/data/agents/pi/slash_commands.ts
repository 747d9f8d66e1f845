/**
 * `/ullage …` in pi, whose own `/compact` and `/new` no extension may replace.
 *
 * What changes the session is done by pi, as its file is never written to while it runs: a compaction
 * with our summary, its undo as a step in pi's tree, a checkpoint as a message.
 */
import type { ExtensionAPI, ExtensionCommandContext } from "@mariozechner/pi-coding-agent";
import { CHECKPOINT_TYPE, checkpointMessage } from "./checkpoint.ts";
import { COMMAND_NAMES, type Outcome, isCommand, parseCommand, runCommand } from "./commands.ts";
import type { Session } from "./session.ts";

const OWN_NAMES = ["compact", "undo", "new"];
const NAMES = [...COMMAND_NAMES, ...OWN_NAMES];
const CHANGING_NAMES = [...OWN_NAMES, "restore"];

export function registerCommands(pi: ExtensionAPI, current: () => Session | undefined): void {
  pi.registerCommand("ullage", {
    description: `Ullage: ${NAMES.join(", ")}`,
    getArgumentCompletions: (prefix) =>
      NAMES.filter((name) => name.startsWith(prefix)).map((name) => ({ value: name, label: name })),
    handler: async (typed, ctx) => {
      const { name, rest } = parseCommand(typed);
      if (CHANGING_NAMES.includes(name)) {
        await ctx.waitForIdle();
      }
      switch (name) {
        case "compact":
          compact(rest, ctx);
          break;
        case "undo":
          await undo(ctx, current());
          break;
        case "restore":
          await restore(rest, pi, ctx);
          break;
        case "new":
          await begin(ctx);
          break;
        default:
          show(await run(name, rest, ctx), ctx);
      }
    },
  });
}

async function run(name: string, rest: string, ctx: ExtensionCommandContext): Promise<Outcome> {
  if (!isCommand(name)) {
    return { isDone: false, text: `there is no /ullage ${name}: ${NAMES.join(", ")}` };
  }
  const file = ctx.sessionManager.getSessionFile();
  if (file === undefined) {
    return { isDone: false, text: "this session is not kept in a file" };
  }
  return await runCommand(name, rest, file, ctx.cwd);
}

function show({ isDone, text }: Outcome, ctx: ExtensionCommandContext): void {
  ctx.ui.notify(isDone ? text : `Ullage: ${text}`, isDone ? "info" : "warning");
}

/** pi compacts, and is given our summary as at any compaction. */
function compact(focus: string, ctx: ExtensionCommandContext): void {
  ctx.compact({
    ...(focus === "" ? {} : { customInstructions: focus }),
    onError: ({ message }) => {
      show({ isDone: false, text: `Compaction failed: ${message}` }, ctx);
    },
  });
}

/** Go back to before the last compaction; what came after it stays in the tree. */
async function undo(ctx: ExtensionCommandContext, session: Session | undefined): Promise<void> {
  const branch = ctx.sessionManager.getBranch();
  const at = branch.findLastIndex((entry) => entry.type === "compaction");
  const before = branch[at]?.parentId;
  if (before == null) {
    show({ isDone: false, text: "there is no compaction to undo" }, ctx);
    return;
  }
  const nLater = branch.slice(at + 1).filter((entry) => entry.type === "message").length;
  const question = `The ${nLater} messages since then stay in pi's tree (/tree), and leave the context.`;
  if (nLater > 0 && !(await ctx.ui.confirm("Undo the last compaction?", question))) {
    return;
  }
  const { cancelled } = await ctx.navigateTree(before);
  if (!cancelled) {
    session?.afterUndo(ctx);
    show({ isDone: true, text: "✓ The context is that of before the last compaction" }, ctx);
  }
}

async function restore(id: string, pi: ExtensionAPI, ctx: ExtensionCommandContext): Promise<void> {
  const outcome = await run("restore", id, ctx);
  if (outcome.isDone) {
    pi.sendMessage({ ...checkpointMessage(outcome.text, id === "" ? null : id), display: true }, { triggerTurn: false });
  } else {
    show(outcome, ctx);
  }
}

/** Begin a session that knows what this one was about. */
async function begin(ctx: ExtensionCommandContext): Promise<void> {
  const written = await run("checkpoint", "", ctx);
  const checkpoint = written.isDone ? await run("restore", "", ctx) : written;
  const parentSession = ctx.sessionManager.getSessionFile();
  if (!checkpoint.isDone || parentSession === undefined) {
    show(checkpoint, ctx);
    return;
  }
  await ctx.newSession({
    parentSession,
    // eslint-disable-next-line @typescript-eslint/require-await -- pi waits for a promise
    setup: async (sessionManager) => {
      sessionManager.appendCustomMessageEntry(CHECKPOINT_TYPE, checkpoint.text, true);
    },
  });
}
