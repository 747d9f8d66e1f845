/** What the server's lenses, links and quick fixes run. */

import * as vscode from "vscode";
import type { Client } from "../client";
import { serverAction } from "../model/serverCommands";
import type { Outcome } from "../protocol";
import { restore, restoreNamed } from "./checkpoints";
import { mergeItems, review, undoReview } from "./memoryReview";
import { showOutcome } from "./outcome";
import type { CompactionPreview } from "./preview";
import { pruneToolResults } from "./prune";
import type { ShownSession } from "./shownSession";
import { showVirtualDocument } from "./virtualDocument";

/** Run a command of the server that the editor was given by the server, and show what became of it. */
export async function runServerCommand(
  { client, preview, shown }: { client: Client; preview: CompactionPreview; shown: ShownSession },
  command: string,
  args: unknown[],
): Promise<void> {
  const action = serverAction(command, args[0]);
  switch (action.kind) {
    case "show":
      await showVirtualDocument(vscode.Uri.parse(action.uri, true));
      break;
    case "preview":
      await preview.show(action.argument);
      break;
    case "apply":
      await preview.apply(action.preview);
      break;
    case "regenerate":
      await preview.regenerate(action.preview);
      break;
    case "discard":
      await preview.discard(action.preview);
      break;
    case "choose pruned":
      await pruneToolResults(client, action.session);
      break;
    case "choose way":
      await restoreNamed(client, shown, action.session, action.checkpoint);
      break;
    case "restore":
      await restore(client, action.session, action.checkpoint, action.way);
      break;
    case "review":
      await review(client, action.argument);
      break;
    case "merge":
      await mergeItems(client, action.argument);
      break;
    case "undo review":
      await undoReview(client, action.argument);
      break;
    case "execute": {
      const result = await client.executeUntyped(command, args);
      if (isOutcome(result)) {
        showOutcome(client, result);
      }
    }
  }
}

function isOutcome(result: unknown): result is Outcome {
  return typeof result === "object" && result !== null && "outcome" in result && "message" in result;
}
