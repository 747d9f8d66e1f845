/** What the server's lenses, links and quick fixes run. */

import * as vscode from "vscode";
import type { Client } from "../client";
import {
  APPLY_COMMAND,
  DISCARD_COMMAND,
  PREVIEW_COMMAND,
  REGENERATE_COMMAND,
  SHOW_COMMAND,
  type Outcome,
  type PreviewArgument,
} from "../protocol";
import { showOutcome } from "./outcome";
import type { CompactionPreview } from "./preview";
import { showVirtualDocument } from "./virtualDocument";

/** Run a command of the server that the editor was given by the server, and show what became of it. */
export async function runServerCommand(
  client: Client,
  preview: CompactionPreview,
  command: string,
  args: unknown[],
): Promise<void> {
  const [argument] = args;
  switch (command) {
    case SHOW_COMMAND:
      await showVirtualDocument(vscode.Uri.parse(textOf(argument, "uri") ?? "", true));
      return;
    case PREVIEW_COMMAND:
      await preview.show({ session: null, layer: null, focus: null, ...(argument as Partial<PreviewArgument>) });
      return;
    case APPLY_COMMAND:
      await preview.apply(textOf(argument, "preview"));
      return;
    case REGENERATE_COMMAND:
      await preview.regenerate(textOf(argument, "preview"));
      return;
    case DISCARD_COMMAND:
      await preview.discard(textOf(argument, "preview"));
      return;
    default:
      await execute(client, command, args);
  }
}

async function execute(client: Client, command: string, args: unknown[]): Promise<void> {
  const result = await client.executeUntyped(command, args);
  if (isOutcome(result)) {
    if (result.text !== null) {
      await vscode.env.clipboard.writeText(result.text);
    }
    showOutcome(client, result);
  }
}

/** Return a text of an argument; undefined where there is none. */
function textOf(argument: unknown, name: string): string | undefined {
  const value: unknown = typeof argument === "object" && argument !== null ? Reflect.get(argument, name) : undefined;
  return typeof value === "string" ? value : undefined;
}

function isOutcome(result: unknown): result is Outcome {
  return typeof result === "object" && result !== null && "outcome" in result && "message" in result;
}
