/** Lets the user decide what waits for memory; what is typed is saved first, as the server reads the disk. */

import * as path from "node:path";
import * as vscode from "vscode";
import type { Client } from "../client";
import type { Subject } from "../model/tree";
import {
  DREAM_COMMAND,
  EDIT_MEMORY_ITEM_COMMAND,
  REVIEW_MEMORY_COMMAND,
  UNDO_REVIEW_COMMAND,
  type ReviewMemoryArgument,
  type UndoReviewArgument,
} from "../protocol";
import { showOutcome, showQuietly } from "./outcome";
import { withPatience } from "./progress";

const MEMORY_NAMES: readonly string[] = ["DREAMS.md", "MEMORY.md"];

/** Accept or reject the item of a row. */
export async function reviewItem(client: Client, subject: Subject | undefined, choice: "accept" | "reject"): Promise<void> {
  if (subject?.kind === "memory" && subject.row.item !== null) {
    const { path, item } = subject.row;
    await review(client, { path, choice, ids: [item], text: null, isConfirmed: false });
  }
}

/** Show the words of the item of a row, selected, where they are changed by typing. */
export async function editItem(client: Client, subject: Subject | undefined): Promise<void> {
  if (subject?.kind === "memory" && subject.row.item !== null) {
    const { path, item } = subject.row;
    showQuietly((await client.execute(EDIT_MEMORY_ITEM_COMMAND, { path, id: item })).message);
  }
}

/** Ask for the words that several items become, the first one's to begin with; Enter accepts them. */
export async function mergeItems(client: Client, argument: ReviewMemoryArgument): Promise<void> {
  const text = await vscode.window.showInputBox({
    title: vscode.l10n.t("Merge {0} Items", argument.ids.length),
    prompt: vscode.l10n.t("One line of MEMORY.md stands for all of them"),
    value: argument.text ?? "",
    validateInput: (value) => (value.trim() === "" ? vscode.l10n.t("A line has words") : undefined),
  });
  if (text !== undefined) {
    await review(client, { ...argument, text, isConfirmed: true });
  }
}

export async function review(client: Client, argument: ReviewMemoryArgument): Promise<void> {
  await saveMemory(argument.path);
  const outcome = await client.execute(REVIEW_MEMORY_COMMAND, argument);
  if (argument.ids.length === 1) {
    // One after the other, a notification for each would pile up; the way back is above the title, and in the view.
    showQuietly(outcome.message);
  } else {
    showOutcome(client, outcome);
  }
}

export async function undoReview(client: Client, argument: UndoReviewArgument): Promise<void> {
  await saveMemory(argument.path);
  showOutcome(client, await client.execute(UNDO_REVIEW_COMMAND, argument));
}

/** Have proposed what lasts of the daily logs; a model may take its time. */
export async function dreamNow(client: Client): Promise<void> {
  await saveMemory(null);
  const outcome = await withPatience(vscode.l10n.t("Looking for what lasts…"), (options) =>
    client.execute(DREAM_COMMAND, { path: null }, options),
  );
  if (outcome !== undefined) {
    showOutcome(client, outcome);
  }
}

/**
 * Save what is typed into the files that are written beside an inbox; null is that of every folder of the workspace.
 *
 * Where that fails, the server says so.
 */
async function saveMemory(inbox: string | null): Promise<void> {
  const folders =
    inbox === null
      ? (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath)
      : [path.dirname(vscode.Uri.file(inbox).fsPath)];
  const typed = vscode.workspace.textDocuments.filter(({ isDirty, uri: { scheme, fsPath } }) => {
    const { dir, base } = path.parse(fsPath);
    return isDirty && scheme === "file" && MEMORY_NAMES.includes(base) && folders.includes(dir);
  });
  await Promise.all(typed.map((document) => document.save()));
}
