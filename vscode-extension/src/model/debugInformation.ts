/** What helps to understand a fault, without a word of a session or of the user's own, and without the user's name. */

/** Sentences of the user's, and addresses, which may have keys in them: that they are set is enough. */
const PRIVATE_SETTINGS = ["pins", "compaction.model.baseUrl"];

export interface DebugFacts {
  readonly extensionVersion: string;
  readonly editorVersion: string;
  readonly platform: string;
  readonly remote: string | undefined;
  readonly isTrusted: boolean;
  readonly nFolders: number;
  readonly serverState: string;
  readonly serverVersion: string | undefined;
  /** Command line that started the server; undefined where none was found. */
  readonly commandLine: string | undefined;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Return the facts as lines of text. */
export function debugText(facts: DebugFacts, home: string, hasCaseInPaths: boolean): string {
  const lines = [
    `Ullage ${facts.extensionVersion}, server ${facts.serverVersion ?? "unknown"} (${facts.serverState})`,
    `Editor ${facts.editorVersion} on ${facts.platform}${facts.remote === undefined ? "" : `, remote ${facts.remote}`}`,
    `Workspace: ${facts.nFolders} ${facts.nFolders === 1 ? "folder" : "folders"}, ${facts.isTrusted ? "trusted" : "Restricted Mode"}`,
    `Started with: ${facts.commandLine ?? "nothing"}`,
    `Settings: ${JSON.stringify(facts.settings, (name, value: unknown) => (PRIVATE_SETTINGS.includes(name) ? "(set)" : value))}`,
  ];
  return `${withoutHome(lines.join("\n"), home, hasCaseInPaths)}\n`;
}

/** Replace the home folder, which has the user's name, where it is a whole path or the start of one, however written. */
export function withoutHome(text: string, home: string, hasCaseInPaths: boolean): string {
  const segments = home.split(/[/\\]+/).filter((segment) => segment !== "");
  if (segments.length === 0) {
    return text;
  }
  // In JSON backslashes are doubled; a drive has no separator before it.
  const start = /^[/\\]/.test(home) ? "[/\\\\]+" : "";
  const path = start + segments.map((segment) => segment.replace(/[^\w]/g, "\\$&")).join("[/\\\\]+");
  return text.replace(new RegExp(`(?<![\\w.-])${path}(?![\\w.-])`, hasCaseInPaths ? "g" : "gi"), "~");
}
