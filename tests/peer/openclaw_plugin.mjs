// Load a plug-in as OpenClaw does, and let it summarize, in a stand-in for OpenClaw's plug-in API.
//   node openclaw_plugin.mjs FOLDER < '{"sessions": [{"sessionKey": …}], "request": {…}}'
// prints {"id", "summary", "warnings"}, and with {"typed": {"args": …}} what a command said as "told".
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createJiti } from "jiti";

const [folder] = process.argv.slice(2);
const { openclaw } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const { id } = JSON.parse(readFileSync(join(folder, "openclaw.plugin.json"), "utf8"));
const plugin = await createJiti(import.meta.url).import(join(folder, openclaw.extensions[0]), { default: true });

const hooks = {};
const warnings = [];
let provider;
let command;
plugin.register({
  on: (name, handler) => (hooks[name] = handler),
  registerCompactionProvider: (one) => (provider = one),
  registerCommand: (one) => (command = one),
  logger: { warn: (message) => warnings.push(message) },
});
const { sessions, request, typed } = JSON.parse(await text(process.stdin));
for (const session of sessions) {
  await hooks.before_compaction({ messageCount: request.messages.length }, session);
}
const summary = await provider.summarize({ ...request, signal: AbortSignal.timeout(30_000) });
for (const session of sessions) {
  await hooks.after_compaction({}, session);
}
const told = typed && (await command.handler({ ...sessions[0], ...typed })).text;
process.stdout.write(JSON.stringify({ id: plugin.id === id ? provider.id : null, summary, warnings, told }));
