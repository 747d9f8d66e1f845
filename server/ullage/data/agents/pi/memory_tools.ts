/** Memory in pi: three tools of the agent, answered by the session's service. */
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";
import { GUIDELINE, MEMORY_TOOLS } from "./memory.ts";
import type { Session } from "./session.ts";

export function registerMemory(pi: ExtensionAPI, current: () => Session | undefined): void {
  for (const { name, label, description, parameters, ask } of MEMORY_TOOLS) {
    pi.registerTool({
      name,
      label,
      description,
      promptSnippet: description,
      ...(name === "memory_search" ? { promptGuidelines: [GUIDELINE] } : {}),
      parameters,
      execute: async (_callId, given, signal, _onUpdate, ctx) => {
        const session = current();
        if (session === undefined) {
          throw new Error("Ullage has no session yet");
        }
        return { content: [{ type: "text", text: await ask(session.service, ctx.cwd, given, signal) }], details: undefined };
      },
    });
  }
}
