/**
 * What the server's commands do in this editor.
 *
 * Lenses and quick fixes name commands of the server, which are made for editors that know nothing of them. Here each
 * does what the command of the extension does: it shows a picker or the preview where the server would ask yes or no.
 */

import {
  APPLY_COMMAND,
  COMPACT_COMMAND,
  DISCARD_COMMAND,
  PREVIEW_COMMAND,
  PRUNE_COMMAND,
  REGENERATE_COMMAND,
  RESTORE_COMMAND,
  REVIEW_MEMORY_COMMAND,
  SHOW_COMMAND,
  UNDO_REVIEW_COMMAND,
  type PreviewArgument,
  type ReviewMemoryArgument,
  type UndoReviewArgument,
} from "../protocol";
import type { RestoreWay } from "./actions";

export type ServerAction =
  /** Open a document of the server's. */
  | { readonly kind: "show"; readonly uri: string }
  /** Plan a compaction and show it as a diff. */
  | { readonly kind: "preview"; readonly argument: PreviewArgument }
  /** Undefined is the preview in the active editor. */
  | { readonly kind: "apply" | "regenerate" | "discard"; readonly preview: string | undefined }
  /** Let the user choose what is pruned. */
  | { readonly kind: "choose pruned"; readonly session: string | null }
  /** Let the user choose where the working state goes; null is the latest checkpoint. */
  | { readonly kind: "choose way"; readonly session: string | null; readonly checkpoint: string | null }
  | { readonly kind: "restore"; readonly session: string | null; readonly checkpoint: string; readonly way: RestoreWay }
  /** Decide what waits for memory; several items as one line, in words that the user is asked for. */
  | { readonly kind: "review" | "merge"; readonly argument: ReviewMemoryArgument }
  | { readonly kind: "undo review"; readonly argument: UndoReviewArgument }
  /** Leave it to the server. */
  | { readonly kind: "execute" };

/** Return what a command of the server with its argument does. */
export function serverAction(command: string, argument: unknown): ServerAction {
  const session = textOf(argument, "session") ?? null;
  const preview = textOf(argument, "preview");
  switch (command) {
    case SHOW_COMMAND:
      return { kind: "show", uri: textOf(argument, "uri") ?? "" };
    case COMPACT_COMMAND:
    case PREVIEW_COMMAND: {
      const layer = textOf(argument, "layer");
      const focus = textOf(argument, "focus") ?? null;
      return { kind: "preview", argument: { session, layer: layer === "summarize" || layer === "full" ? layer : null, focus } };
    }
    case APPLY_COMMAND:
      return { kind: "apply", preview };
    case REGENERATE_COMMAND:
      return { kind: "regenerate", preview };
    case DISCARD_COMMAND:
      return { kind: "discard", preview };
    case PRUNE_COMMAND:
      return hasItems(argument) ? { kind: "execute" } : { kind: "choose pruned", session };
    case RESTORE_COMMAND: {
      const checkpoint = textOf(argument, "checkpoint") ?? null;
      const way = textOf(argument, "into");
      return checkpoint !== null && isWay(way)
        ? { kind: "restore", session, checkpoint, way }
        : { kind: "choose way", session, checkpoint };
    }
    case REVIEW_MEMORY_COMMAND: {
      const choice = textOf(argument, "choice");
      return isChoice(choice)
        ? {
            kind: choice === "merge" ? "merge" : "review",
            argument: { path: textOf(argument, "path") ?? "", choice, ids: textsOf(argument, "ids"), text: textOf(argument, "text") ?? null, isConfirmed: false },
          }
        : { kind: "execute" };
    }
    case UNDO_REVIEW_COMMAND:
      return { kind: "undo review", argument: { path: textOf(argument, "path") ?? null, change: textOf(argument, "change") ?? null } };
    default:
      return { kind: "execute" };
  }
}

/** Return a text of an argument; undefined where there is none. */
function textOf(argument: unknown, name: string): string | undefined {
  const value: unknown = typeof argument === "object" && argument !== null ? Reflect.get(argument, name) : undefined;
  return typeof value === "string" ? value : undefined;
}

/** Return the texts of a list in an argument. */
function textsOf(argument: unknown, name: string): string[] {
  const value: unknown = typeof argument === "object" && argument !== null ? Reflect.get(argument, name) : undefined;
  return Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
}

function isChoice(value: string | undefined): value is ReviewMemoryArgument["choice"] {
  return value === "accept" || value === "reject" || value === "merge";
}

function hasItems(argument: unknown): boolean {
  return typeof argument === "object" && argument !== null && Array.isArray(Reflect.get(argument, "items"));
}

function isWay(value: string | undefined): value is RestoreWay {
  return value === "new" || value === "session" || value === "text";
}
