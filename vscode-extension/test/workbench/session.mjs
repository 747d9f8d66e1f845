// Makes a pi session as it looks after a long afternoon: 91 % of the window used, most of it by what tools printed.
// Every byte is the same in every run, except for the workspace's path and the time.

/** The id of the nth session, known by its first digits. */
export const sessionId = (n) => `${(0x019b7663 + n).toString(16).padStart(8, "0")}-1c00-7a5e-8d3c-5f0c2a9e4b71`;
/** How long ago the session began; chosen: its turns take half of it. */
const AGE_MS = 50 * 60_000;
const STEP_MS = 20_000;
const MODEL = { provider: "anthropic", model: "claude-sonnet-4-5" };

/** What the system prompt and the tools of pi take up, in tokens; chosen. */
const OVERHEAD_TOKENS = 3_000;
/** So many make what tools printed most of what is used. */
const CHARS_PER_TOKEN = 3.3;

const TURNS = [
  {
    ask: "Checkout sometimes charges a card twice when the payment provider times out. Find out why. Never change the public API of src/payments/.",
    calls: [["read", { path: "src/payments/charge.ts" }], ["read", { path: "src/payments/retry.ts" }], ["bash", { command: "rg -n 'retry\\(' src" }]],
    answer: "The retry in `src/payments/retry.ts` makes a new idempotency key for each attempt. After a time-out the provider has often taken the first charge, and the second one counts as a new payment.",
  },
  {
    ask: "Make the key once per order. And write the test first.",
    calls: [["read", { path: "test/payments/charge.test.ts" }], ["edit", { path: "test/payments/charge.test.ts" }], ["bash", { command: "npm test -- payments" }]],
    answer: "The test charges an order whose first attempt times out and expects one payment. It fails as it should: two payments.",
  },
  {
    ask: "Good. Now the fix.",
    calls: [["edit", { path: "src/payments/retry.ts" }], ["read", { path: "src/orders/order.ts" }], ["bash", { command: "npm test" }]],
    answer: "The key is now derived from the order's id and the amount. All 214 tests pass.",
  },
  {
    ask: "What about refunds? They go through the same retry.",
    calls: [["read", { path: "src/payments/refund.ts" }], ["read", { path: "src/payments/ledger.ts" }], ["bash", { command: "rg -n 'refund' src test" }]],
    answer: "Refunds pass their own key, so they were never doubled. But a partial refund of the same amount on the same day shares its key with the first one and is dropped.",
  },
  {
    ask: "That is a second bug. Open item: tell support about it. Fix it in the same way.",
    calls: [["edit", { path: "src/payments/refund.ts" }], ["bash", { command: "npm test -- refund" }], ["read", { path: "src/payments/provider.ts" }]],
    answer: "A refund's key now has the refund's number in it. Open: tell support which customers were affected.",
  },
  {
    ask: "Can we find the affected orders from the ledger?",
    calls: [["read", { path: "scripts/ledger-report.ts" }], ["bash", { command: "node scripts/ledger-report.ts --since 2025-12-01" }], ["bash", { command: "node scripts/ledger-report.ts --doubles" }]],
    answer: "41 orders were charged twice since 2025-12-01; their numbers are in `reports/doubles.csv`.",
  },
  {
    ask: "Then the retry policy itself: three attempts in two seconds is too eager. Use exponential backoff with jitter, at most 30 seconds.",
    calls: [["read", { path: "src/net/backoff.ts" }], ["edit", { path: "src/net/backoff.ts" }], ["bash", { command: "npm test -- backoff" }]],
    answer: "Backoff starts at 250 ms and doubles, with full jitter, up to 30 s in all. `retry.ts` uses it.",
  },
  {
    ask: "Run everything once more, with the integration tests.",
    calls: [["bash", { command: "npm run test:integration" }], ["bash", { command: "npm run lint" }], ["read", { path: "CHANGELOG.md" }]],
    answer: "Unit and integration tests pass, lint is clean. Next: the changelog, and the message to support.",
  },
];
const N_TOOL_OUTPUTS = TURNS.flatMap(({ calls }) => calls).filter(([name]) => name !== "edit").length;

/** Return the transcript: what its file is called, and its lines without newlines. */
export function session({ cwd, usedTokens, id }) {
  const words = random(20260101);
  const start_ms = Date.now() - AGE_MS;
  const toolOutputChars = Math.round((usedTokens * CHARS_PER_TOKEN) / N_TOOL_OUTPUTS);
  const entries = [];
  let parentId = null;
  const add = (type, fields) => {
    const n = entries.length + 1;
    const id = (0x5eed0000 + n * 0x9e37).toString(16).padStart(8, "0").slice(-8);
    entries.push({ type, id, parentId, timestamp: new Date(start_ms + n * STEP_MS).toISOString(), ...fields });
    parentId = id;
  };
  const addMessage = (message) => {
    add("message", { message: { ...message, timestamp: start_ms + (entries.length + 1) * STEP_MS } });
  };
  const addAnswer = (content, stopReason) => {
    addMessage({ role: "assistant", content, api: "anthropic-messages", ...MODEL, usage: null, stopReason });
  };

  add("model_change", { provider: MODEL.provider, modelId: MODEL.model });
  add("thinking_level_change", { thinkingLevel: "medium" });
  for (const { ask, calls, answer } of TURNS) {
    addMessage({ role: "user", content: [{ type: "text", text: ask }] });
    for (const [name, args] of calls) {
      const id = `toolu_${String(entries.length).padStart(4, "0")}`;
      addAnswer([{ type: "toolCall", id, name, arguments: args }], "toolUse");
      const text = name === "edit" ? `Successfully replaced text in ${args.path}.` : toolOutput(words, args, toolOutputChars);
      addMessage({ role: "toolResult", toolCallId: id, toolName: name, content: [{ type: "text", text }], isError: false });
    }
    addAnswer([{ type: "text", text: answer }], "stop");
  }
  reportUsage(entries, usedTokens);

  const timestamp = new Date(start_ms).toISOString();
  const header = { type: "session", version: 3, id, timestamp, cwd };
  return { name: `${timestamp.replaceAll(/[:.]/g, "-")}_${id}.jsonl`, lines: [header, ...entries].map((entry) => JSON.stringify(entry)) };
}

/** Return the same conversation as Claude Code would write it, with a title: lines without newlines. */
export function asClaudeCode(lines, { cwd, id, title }) {
  const messages = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === "message");
  let parentUuid = null;
  const records = messages.map(({ message, timestamp }, n) => {
    const uuid = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
    const record = { parentUuid, isSidechain: false, ...claudeRecord(message, n), uuid, timestamp, userType: "external", cwd, sessionId: id, version: "2.1.330" };
    parentUuid = uuid;
    return record;
  });
  return [...records, { type: "custom-title", customTitle: title, sessionId: id }].map((record) => JSON.stringify(record));
}

function claudeRecord(message, n) {
  const { role, content, usage } = message;
  if (role === "user") return { type: "user", message: { role, content: content[0].text } };
  if (role === "toolResult") {
    return { type: "user", message: { role: "user", content: [{ type: "tool_result", tool_use_id: message.toolCallId, content: content[0].text }] } };
  }
  const blocks = content.map((block) => (block.type === "toolCall" ? { type: "tool_use", id: block.id, name: block.name, input: block.arguments } : block));
  const reported = { input_tokens: usage.input, output_tokens: usage.output, cache_read_input_tokens: usage.cacheRead, cache_creation_input_tokens: usage.cacheWrite };
  return { type: "assistant", message: { id: `msg_${n}`, type: "message", role, model: MODEL.model, content: blocks, usage: reported } };
}

/** The folder of a workspace's sessions, as Claude Code names it. */
export function claudeFolderName(cwd) {
  return cwd.replace(/[^A-Za-z0-9]/g, "-");
}

/** Return the lines of one more turn after a transcript's last line: a file is read, and the answer reports `usedTokens`. */
export function nextTurn(lastLine, { ask, answer, usedTokens }) {
  const last = JSON.parse(lastLine);
  const lines = [];
  let { id } = last;
  let at_ms = Date.parse(last.timestamp);
  const add = (message) => {
    const parentId = id;
    id = (Number.parseInt(id, 16) + 0x9e37).toString(16).padStart(8, "0").slice(-8);
    at_ms += STEP_MS;
    lines.push(JSON.stringify({ type: "message", id, parentId, timestamp: new Date(at_ms).toISOString(), message: { ...message, timestamp: at_ms } }));
  };
  const addAnswer = (content, totalTokens, stopReason) => {
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
    const usage = { input: 0, output: 120, cacheRead: totalTokens - 120, cacheWrite: 0, totalTokens, cost };
    add({ role: "assistant", content, api: "anthropic-messages", ...MODEL, usage, stopReason });
  };
  const used = last.message.usage.totalTokens;
  const call = { type: "toolCall", id: `toolu_${id}`, name: "read", arguments: { path: `src/part-${id}.ts` } };
  add({ role: "user", content: [{ type: "text", text: ask }] });
  addAnswer([call], used + 200, "toolUse");
  const text = toolOutput(random(usedTokens), call.arguments, (usedTokens - used) * CHARS_PER_TOKEN);
  add({ role: "toolResult", toolCallId: call.id, toolName: "read", content: [{ type: "text", text }], isError: false });
  addAnswer([{ type: "text", text: answer }], usedTokens, "stop");
  return lines;
}

/** Give every answer the usage that its share of the text suggests; the last one reports `usedTokens`. */
function reportUsage(entries, usedTokens) {
  const sizes = entries.map((entry) => JSON.stringify(entry.message ?? "").length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let size = 0;
  let cached = 0;
  entries.forEach((entry, index) => {
    size += sizes[index];
    if (entry.message?.role !== "assistant") return;
    const totalTokens = OVERHEAD_TOKENS + Math.round(((usedTokens - OVERHEAD_TOKENS) * size) / total);
    const output = Math.min(120, totalTokens - cached);
    const cacheWrite = totalTokens - cached - output;
    const cost = { input: 0, output: (output * 15) / 1e6, cacheRead: (cached * 0.3) / 1e6, cacheWrite: (cacheWrite * 3.75) / 1e6 };
    entry.message.usage = {
      input: 0, output, cacheRead: cached, cacheWrite, totalTokens,
      cost: { ...cost, total: cost.output + cost.cacheRead + cost.cacheWrite },
    };
    cached = totalTokens;
  });
}

function toolOutput(random, { path, command }, nChars) {
  const lines = [];
  let length = 0;
  while (length < nChars) {
    const line = path === undefined ? logLine(random, lines.length, command) : codeLine(random, lines.length);
    lines.push(line);
    length += line.length + 1;
  }
  return lines.join("\n");
}

const NOUNS = ["order", "charge", "refund", "ledger", "customer", "invoice", "attempt", "payment", "receipt", "provider", "amount", "currency"];
const VERBS = ["load", "store", "check", "round", "settle", "book", "cancel", "confirm", "retry", "find", "merge", "report"];

function codeLine(random, n) {
  const [noun, other] = [random(NOUNS), random(NOUNS)];
  const verb = random(VERBS);
  switch (n % 8) {
    case 0: return `/** ${verb[0].toUpperCase()}${verb.slice(1)} the ${noun} of one ${other}; see docs/${noun}s.md. */`;
    case 1: return `export async function ${verb}${noun[0].toUpperCase()}${noun.slice(1)}${n}(${noun}: ${noun[0].toUpperCase()}${noun.slice(1)}, ${other}Id: string): Promise<Result> {`;
    case 2: return `  const ${other} = await ${other}s.${verb}(${other}Id, { timeout: ${(n % 9) + 1}_000 });`;
    case 3: return `  if (${other} === undefined || ${other}.${noun}Id !== ${noun}.id) {`;
    case 4: return `    throw new ${noun[0].toUpperCase()}${noun.slice(1)}Error(\`no ${other} for ${noun} \${${noun}.id}\`, { code: ${400 + (n % 90)} });`;
    case 5: return "  }";
    case 6: return `  return { ok: true, ${noun}: await ${verb}(${noun}, ${other}), at: clock.now() };`;
    default: return "}\n";
  }
}

function logLine(random, n, command) {
  if (command.startsWith("rg")) {
    return `src/${random(NOUNS)}s/${random(VERBS)}.ts:${(n * 7) % 400}:  await ${random(VERBS)}(${random(NOUNS)}, { attempts: ${n % 5} });`;
  }
  if (command.startsWith("node")) {
    return `2025-12-${String((n % 30) + 1).padStart(2, "0")}  order ${70_000 + n * 13}  ${random(NOUNS).padEnd(10)} ${((n * 317) % 20_000) / 100} EUR  ${random(VERBS)}ed`;
  }
  return `  ✓ ${random(VERBS)}s the ${random(NOUNS)} of a ${random(NOUNS)} when the ${random(NOUNS)} is late (${(n * 37) % 90} ms)`;
}

/** Return a function that picks an item of a list: the same items in every run. */
function random(seed) {
  let state = seed;
  return (list) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return list[Math.floor((state / 2 ** 32) * list.length)];
  };
}

/** The folder of a workspace's sessions, as pi names it. */
export function sessionFolderName(cwd) {
  return `--${cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`;
}
