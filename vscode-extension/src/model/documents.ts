/** Which files the server is told of, by the patterns of the editor; the server looks at each path again. */

// A test of the server, tests/lsp/test_documents_mirror.py, holds all of these to what the server looks at.

/** Transcripts, which the server reads from disk, whatever their size; the second is how Gemini CLI once wrote them. */
const TRANSCRIPT = "**/{*.jsonl,chats/session-*.json}";

/** What agents load by its name. */
const INSTRUCTIONS =
  "**/{AGENTS.md,AGENTS.override.md,CLAUDE.md,CLAUDE.local.md,GEMINI.md,SOUL.md,IDENTITY.md,USER.md,TOOLS.md,BOOTSTRAP.md,HEARTBEAT.md}";
const SKILL = "**/SKILL.md";

/** Where servers of tools are configured. */
const TOOLS = "**/{.mcp.json,.codex/config.toml}";
const MEMORY = "**/{MEMORY.md,DREAMS.md,memory/**/*.md}";
const CHECKPOINT = "**/checkpoints/**/cp_*.yaml";
const CONFIGURATION = "**/{.ullage.yaml,.openclaw/config.yaml,openclaw.json,clawdbot.json}";
const PREVIEW = "**/previews/*/proposed.md";

/** The server's own read-only documents, in which it links places in memory. */
const SHOWN: DocumentFilter = { scheme: "ullage", pattern: "/*.md" };

export interface DocumentFilter {
  readonly scheme: "file" | "ullage";
  readonly pattern: string;
}

export const DOCUMENTS: readonly DocumentFilter[] = [
  ...[TRANSCRIPT, INSTRUCTIONS, SKILL, TOOLS, MEMORY, CHECKPOINT, CONFIGURATION, PREVIEW].map((pattern): DocumentFilter => ({ scheme: "file", pattern })),
  SHOWN,
];

/** Return whether the server has the text of a document without being told. */
export function isKnownToServer({ scheme, path }: { readonly scheme: string; readonly path: string }): boolean {
  return scheme !== "file" || /\.jsonl$|\/chats\/session-[^/]*\.json$/.test(path);
}

/** Return what stands in the opening message for a document whose text the server reads from disk. */
export function withoutText<Document extends { getText: () => string }>(document: Document): Document {
  // The document itself stays the one that the editor knows: only this view of it has no text.
  return Object.create(document, { getText: { value: () => "" } }) as Document;
}
