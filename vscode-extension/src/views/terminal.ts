/** Shows the terminal that an agent runs in. */

import * as vscode from "vscode";
import { nearestAncestor } from "../model/terminals";
import type { TerminalParams } from "../protocol";
import { showQuietly } from "./outcome";

/** Show the terminal whose shell started the agent; where that cannot be told, the one that was used last, and say so. */
export async function showTerminal({ processes }: TerminalParams): Promise<void> {
  const { terminals, activeTerminal } = vscode.window;
  const shells = await Promise.all(terminals.map(({ processId }) => processId));
  const own = terminals[nearestAncestor(shells, processes)];
  // A process that has no known ancestors, as on Windows, may run in any of them.
  const terminal = own ?? (processes.length > 1 ? undefined : activeTerminal);
  terminal?.show();
  if (terminal === undefined) {
    showQuietly(vscode.l10n.t("The agent runs in no terminal of this window."));
  } else if (own === undefined) {
    showQuietly(vscode.l10n.t("Which terminal the agent runs in is not known: this one was used last."));
  }
}
