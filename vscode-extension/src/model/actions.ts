/** What can be done with a session, and when it is offered: what cannot work is hidden, not refused afterwards. */

export interface Action {
  readonly command: ActionCommand;
  /** Id of an icon of the editor. */
  readonly icon: string;
}

export type ActionCommand =
  | "ullage.compactSession"
  | "ullage.pruneToolResults"
  | "ullage.undoChange"
  | "ullage.redoChange"
  | "ullage.writeCheckpoint"
  | "ullage.restoreCheckpoint"
  | "ullage.showWindow"
  | "ullage.showPlot"
  | "ullage.showStatus"
  | "ullage.turnAutomaticOn"
  | "ullage.turnAutomaticOff";

export interface Abilities {
  /** Whether the user trusts the workspace: else nothing is written. */
  readonly isTrusted: boolean;
  readonly canWrite: boolean;
  /** Whether checkpoints may be written, and memory. */
  readonly canNote: boolean;
  readonly isAutomatic: boolean;
}

/** Chosen: what is seen at a glance. */
const MAX_ENTRIES = 6;

export interface Menu {
  readonly entries: readonly Action[];
  /** What stands behind one more entry; empty where all have a place. */
  readonly more: readonly Action[];
}

/** Return the gauge's menu: at most six entries, the last of which may lead to more. */
export function menu(abilities: Abilities, hasCheckpoint: boolean): Menu {
  const actions = offered(abilities).filter(({ command }) => command !== "ullage.restoreCheckpoint" || hasCheckpoint);
  const nEntries = actions.length <= MAX_ENTRIES ? MAX_ENTRIES : MAX_ENTRIES - 1;
  return { entries: actions.slice(0, nEntries), more: actions.slice(nEntries) };
}

function offered({ isTrusted, canWrite, canNote, isAutomatic }: Abilities): readonly Action[] {
  const canChange = isTrusted && canWrite;
  const all: readonly (Action & { readonly isOffered: boolean })[] = [
    { command: "ullage.compactSession", icon: "fold", isOffered: canChange },
    { command: "ullage.pruneToolResults", icon: "filter", isOffered: canChange },
    { command: "ullage.undoChange", icon: "discard", isOffered: canChange },
    { command: "ullage.writeCheckpoint", icon: "bookmark", isOffered: isTrusted && canNote },
    // The text of a checkpoint can be copied wherever it can be read.
    { command: "ullage.restoreCheckpoint", icon: "history", isOffered: true },
    { command: "ullage.showWindow", icon: "list-tree", isOffered: true },
    { command: "ullage.showPlot", icon: "graph-line", isOffered: true },
    { command: "ullage.showStatus", icon: "info", isOffered: true },
    { command: "ullage.redoChange", icon: "redo", isOffered: canChange },
    { command: "ullage.turnAutomaticOn", icon: "circle-large-outline", isOffered: canChange && !isAutomatic },
    { command: "ullage.turnAutomaticOff", icon: "pass", isOffered: canChange && isAutomatic },
  ];
  return all.filter(({ isOffered }) => isOffered).map(({ command, icon }) => ({ command, icon }));
}

/** Commands of the line below the gauge's hover; each asks or shows before it changes anything but our own files. */
const HOVER_COMMANDS: readonly ActionCommand[] = [
  "ullage.pruneToolResults",
  "ullage.compactSession",
  "ullage.writeCheckpoint",
  "ullage.showWindow",
];

export function hoverActions(abilities: Abilities): readonly ActionCommand[] {
  const commands = offered(abilities).map(({ command }) => command);
  return HOVER_COMMANDS.filter((command) => commands.includes(command));
}

/** Return a link that runs a command for a session, in Markdown. */
export function commandLink(title: string, command: string, sessionPath: string): string {
  // Parentheses end a link, and are not encoded otherwise.
  const argument = encodeURIComponent(JSON.stringify([sessionPath])).replace(/[()']/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return `[${title}](command:${command}?${argument})`;
}

export type RestoreWay = "new" | "session" | "text";

/** Return how a checkpoint can be made current again, the recommended way first. */
export function restoreWays({ isTrusted, canWrite }: Abilities): readonly RestoreWay[] {
  return isTrusted && canWrite ? ["new", "session", "text"] : ["text"];
}
