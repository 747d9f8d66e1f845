/** What helps to understand a fault, without a word of a session and without the user's name. */

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
export function debugText(facts: DebugFacts, home: string): string {
  const lines = [
    `Ullage ${facts.extensionVersion}, server ${facts.serverVersion ?? "unknown"} (${facts.serverState})`,
    `Editor ${facts.editorVersion} on ${facts.platform}${facts.remote === undefined ? "" : `, remote ${facts.remote}`}`,
    `Workspace: ${facts.nFolders} folders, ${facts.isTrusted ? "trusted" : "Restricted Mode"}`,
    `Started with: ${facts.commandLine ?? "nothing"}`,
    `Settings: ${JSON.stringify(facts.settings)}`,
  ];
  return `${withoutHome(lines.join("\n"), home)}\n`;
}

/** Replace the home folder, which has the user's name, wherever it stands; in JSON its backslashes are doubled. */
export function withoutHome(text: string, home: string): string {
  return home === "" ? text : text.replaceAll(home.replaceAll("\\", "\\\\"), "~").replaceAll(home, "~");
}
