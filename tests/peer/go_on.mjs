// Go on with a session as pi does, and print what pi would send to the model then.
//   node go_on.mjs 0.73.1|0.87.1 FILE
const PACKAGES = {
  "0.73.1": "@mariozechner/pi-coding-agent",
  "0.87.1": "@earendil-works/pi-coding-agent",
};
const [version, file] = process.argv.slice(2);
const { SessionManager, convertToLlm } = await import(PACKAGES[version]);

const session = SessionManager.open(file);
const timestamp = Date.parse("2026-11-21T06:00:00Z");
session.appendMessage({ role: "user", content: "Is it done?", timestamp });
session.appendMessage({
  role: "assistant",
  content: [{ type: "text", text: "It is." }],
  api: "openai-completions",
  provider: "openai",
  model: "gpt-4-turbo",
  usage: {
    ...{ input: 4990, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: 5000 },
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  },
  stopReason: "stop",
  timestamp,
});
process.stdout.write(JSON.stringify(convertToLlm(session.buildSessionContext().messages)));
