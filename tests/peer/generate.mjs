// Let pi 0.73.1 write random sessions: branches, compactions, edits of everything it has.
//   node generate.mjs FOLDER SEED...
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { SessionManager } from "@mariozechner/pi-coding-agent";

const [folder, ...seeds] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
for (const seed of seeds) write(Number(seed), path.join(folder, `${seed}.jsonl`));

function write(seed, file) {
  if (existsSync(file)) throw new Error(`${file} exists`);
  const random = mulberry32(seed);
  const below = (n) => Math.floor(random() * n);
  const pick = (items) => items[below(items.length)];
  const words = ["token", "Größe", "会话", "🚀", "line\u2028sep", "\ud83d", "nul\u0000", "port 8443"];
  const text = (n) => Array.from({ length: 1 + below(n) }, () => pick(words)).join(" ");
  const session = SessionManager.open(file, folder, "/work/peer");
  const users = [];
  const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const answer = (content, stopReason) =>
    session.appendMessage({
      role: "assistant", content, api: "anthropic-messages", provider: "anthropic",
      model: pick(["claude-sonnet-4-5", "gpt-5"]), stopReason, timestamp: 1,
      usage: { ...zero, input: below(90000), output: 5, totalTokens: below(2) * 7000, cost: zero },
    });
  const steps = {
    ask: () => users.push(session.appendMessage({ role: "user", content: text(40), timestamp: 1 })),
    call: () => {
      const id = `call_${below(1e9)}`;
      const args = { path: `${pick(words)}.py`, 10: 1.5, 2: 1e21, deep: [null, { a: pick(words) }] };
      answer([{ type: "toolCall", id, name: "read", arguments: args }], "toolUse");
      session.appendMessage({
        role: "toolResult", toolCallId: id, toolName: "read", isError: below(9) === 0, timestamp: 1,
        content: below(9) ? [{ type: "text", text: text(400) }] : [],
      });
    },
    say: () => answer([{ type: "thinking", thinking: text(9) }, { type: "text", text: text(60) }], "stop"),
    fail: () => answer([], "error"),
    bash: () =>
      session.appendMessage({
        role: "bashExecution", command: text(3), output: text(30), exitCode: below(3),
        cancelled: false, truncated: false, excludeFromContext: below(2) === 0, timestamp: 1,
      }),
    note: () => session.appendCustomMessageEntry("note", text(9), true, { n: below(9) }),
    mark: () => session.appendCustomEntry("mark", { n: below(9) }),
    label: () => users.length && session.appendLabelChange(pick(users), text(2)),
    compact: () => {
      const kept = users.length ? pick(users.slice(-4)) : "none";
      session.appendCompaction(text(80), kept, below(180000), { by: "peer" }, below(2) === 0);
    },
    branch: () => users.length && session.branch(pick(users)),
    back: () => users.length && session.branchWithSummary(pick(users), below(5) ? text(20) : ""),
  };
  const names = ["ask", "ask", "call", "call", "call", "say", "say", "fail", "bash", "note", "mark", "label", "compact", "branch", "back"];
  steps.ask();
  steps.say();
  for (let n = 40 + below(160); n > 0; n--) steps[pick(names)]();
}

function mulberry32(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
