// Load a plug-in as OpenClaw does, and let it summarize, in a stand-in for OpenClaw's plug-in API.
//   node openclaw_plugin.mjs FOLDER < '{"sessions": [{"sessionKey": …}], "request": {…}}'
// prints {"id", "summary", "warnings"}, and with {"typed": {"args": …}} what a command said as "told";
// with {"fresh": {"sessionId": …}} what the first prompt of a new session is given as "begun";
// with {"calls": [[name, arguments]], "config": …} the names of its tools and what they answered.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createJiti } from "jiti";

const [folder] = process.argv.slice(2);
const { openclaw } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const { id, contracts } = JSON.parse(readFileSync(join(folder, "openclaw.plugin.json"), "utf8"));
const plugin = await createJiti(import.meta.url).import(join(folder, openclaw.extensions[0]), { default: true });

const hooks = {};
const warnings = [];
let provider;
let command;
let tools;
plugin.register({
  on: (name, handler) => (hooks[name] = handler),
  registerCompactionProvider: (one) => (provider = one),
  registerCommand: (one) => (command = one),
  registerTool: (make, { names }) => (tools = { make, names }),
  logger: { warn: (message) => warnings.push(message) },
});
const { sessions, request, typed, fresh, calls, config } = JSON.parse(await text(process.stdin));
for (const session of sessions) {
  await hooks.before_compaction({ messageCount: request.messages.length }, session);
}
const summary = await provider.summarize({ ...request, signal: AbortSignal.timeout(30_000) });
for (const session of sessions) {
  await hooks.after_compaction({}, session);
}
const told = typed && (await command.handler({ ...sessions[0], ...typed })).text;
const begun = fresh && (await hooks.before_prompt_build({ prompt: "Hello.", messages: [] }, { ...sessions[0], ...fresh }));
const later = fresh && (await hooks.before_prompt_build({ prompt: "Hello.", messages: [{}] }, { ...sessions[0], ...fresh }));
const offered = tools.make({ ...sessions[0], config });
const answers = [];
for (const [name, given] of calls ?? []) {
  const tool = offered.find((one) => one.name === name);
  answers.push(await tool.execute("call_1", given).then((done) => done.content[0].text, String));
}
const names = { declared: contracts.tools, registered: tools.names, offered: offered.map((one) => one.name) };
process.stdout.write(JSON.stringify({ id: plugin.id === id ? provider.id : null, summary, warnings, told, begun, later, names, answers }));
