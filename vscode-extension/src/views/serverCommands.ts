/** What the server's lenses, links and quick fixes run. */

import * as vscode from "vscode";
import type { Client } from "../client";
import { SHOW_COMMAND, type Outcome } from "../protocol";
import { showOutcome } from "./outcome";
import { showVirtualDocument } from "./virtualDocument";

/** Run a command of the server that the editor was given by the server, and show what became of it. */
export async function runServerCommand(client: Client, command: string, args: unknown[]): Promise<void> {
  if (command === SHOW_COMMAND) {
    const [argument] = args;
    if (typeof argument === "object" && argument !== null && "uri" in argument) {
      await showVirtualDocument(vscode.Uri.parse(String(argument.uri), true));
    }
    return;
  }
  const result = await client.executeUntyped(command, args);
  if (isOutcome(result)) {
    if (result.text !== null) {
      await vscode.env.clipboard.writeText(result.text);
    }
    showOutcome(client, result);
  }
}

function isOutcome(result: unknown): result is Outcome {
  return typeof result === "object" && result !== null && "outcome" in result && "message" in result;
}
