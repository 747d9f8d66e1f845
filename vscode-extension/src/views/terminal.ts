/** Shows the terminal that an agent runs in. */

import * as vscode from "vscode";
import { nearestAncestor } from "../model/terminals";
import type { TerminalParams } from "../protocol";
import { showQuietly } from "./outcome";

/** Show the terminal whose shell started the agent; where that cannot be told, the one that was used last. */
export async function showTerminal({ processes }: TerminalParams): Promise<void> {
  const { terminals, activeTerminal } = vscode.window;
  const shells = await Promise.all(terminals.map(({ processId }) => processId));
  // A process that has no known ancestors may run in any of them.
  const terminal = terminals[nearestAncestor(shells, processes)] ?? (processes.length > 1 ? undefined : activeTerminal);
  if (terminal === undefined) {
    showQuietly(vscode.l10n.t("The agent runs in no terminal of this window."));
  } else {
    terminal.show();
  }
}
