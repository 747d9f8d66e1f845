/** Which files the server is told of, by the patterns of the editor; the server looks at each path again. */

/** A transcript: the server reads it from disk, whatever its size. */
const TRANSCRIPT = "**/*.jsonl";

/** What agents load by its name; held to the server's list by a test of the server. */
const INSTRUCTIONS =
  "**/{AGENTS.md,AGENTS.override.md,CLAUDE.md,CLAUDE.local.md,GEMINI.md,SOUL.md,IDENTITY.md,USER.md,TOOLS.md,BOOTSTRAP.md,HEARTBEAT.md}";
const MEMORY = "**/{MEMORY.md,memory/*.md}";
const CHECKPOINT = "**/checkpoints/**/cp_*.yaml";
const CONFIGURATION = "**/{.ullage.yaml,.openclaw/config.yaml,openclaw.json,clawdbot.json}";
const PREVIEW = "**/previews/*/proposed.md";

export interface DocumentFilter {
  readonly scheme: "file";
  readonly pattern: string;
}

export const DOCUMENTS: readonly DocumentFilter[] = [
  TRANSCRIPT,
  INSTRUCTIONS,
  MEMORY,
  CHECKPOINT,
  CONFIGURATION,
  PREVIEW,
].map((pattern) => ({ scheme: "file", pattern }));

export function isReadFromDisk(path: string): boolean {
  return path.endsWith(".jsonl");
}

/** Return what stands in the opening message for a document whose text the server reads from disk. */
export function withoutText<Document extends { getText: () => string }>(document: Document): Document {
  // The document itself stays the one that the editor knows: only this view of it has no text.
  return Object.create(document, { getText: { value: () => "" } }) as Document;
}
