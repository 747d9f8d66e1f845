/** Tells the user what became of a command. */

import * as vscode from "vscode";
import type { Client } from "../client";
import { errorMessage } from "../logger";
import { UNDO_COMMAND, UNDO_REVIEW_COMMAND, type Outcome, type ResumeParams } from "../protocol";

/** Chosen: long enough to read a line in the status bar. */
const QUIET_MESSAGE_MS = 5_000;

/** Show an outcome; it is not waited for, since a notification may stay for as long as the user likes. */
export function showOutcome(client: Client, outcome: Outcome): void {
  switch (outcome.outcome) {
    case "done":
      offerUndo(client, outcome).catch((error: unknown) => {
        void vscode.window.showErrorMessage(errorMessage(error));
      });
      break;
    case "cancelled":
    case "nothing":
      showQuietly(outcome.message);
      break;
  }
}

/** Show what needs no notification to dismiss. */
export function showQuietly(message: string): void {
  vscode.window.setStatusBarMessage(message, QUIET_MESSAGE_MS);
}

async function offerUndo(client: Client, { message, session, change, review, uri, resume }: Outcome): Promise<void> {
  const undo = vscode.l10n.t("Undo");
  const view = vscode.l10n.t("View");
  const inTerminal = vscode.l10n.t("Resume in Terminal");
  const canUndo = change !== null || review !== null;
  const canView = uri !== null || (canUndo && session !== null);
  const buttons = [...(canUndo ? [undo] : []), ...(canView ? [view] : []), ...(resume === null ? [] : [inTerminal])];
  const choice = await vscode.window.showInformationMessage(message, ...buttons);
  if (choice === undo) {
    const undone = await (review === null
      ? client.execute(UNDO_COMMAND, { session: session?.path ?? null, change })
      : client.execute(UNDO_REVIEW_COMMAND, review));
    // To undo what undid is another command: no notification follows from a notification without end.
    showOutcome(client, { ...undone, change: null, review: null, uri: null });
  } else if (choice === view) {
    await (uri === null
      ? vscode.commands.executeCommand("ullage.showPlot", session?.path)
      : vscode.commands.executeCommand("vscode.open", vscode.Uri.parse(uri, true)));
  } else if (choice === inTerminal && resume !== null) {
    resumeInTerminal(resume);
  }
}

/** Go on with a session in a new terminal; the transcript may name any folder, one of the workspace is taken. */
export function resumeInTerminal({ command, folder }: ResumeParams): void {
  const cwd = folder === null ? undefined : vscode.Uri.file(folder);
  const isOurs = cwd !== undefined && vscode.workspace.getWorkspaceFolder(cwd) !== undefined;
  const terminal = vscode.window.createTerminal(isOurs ? { cwd } : {});
  terminal.show();
  terminal.sendText(command);
}

/** Copy a command, or the text of a checkpoint: of that the first line says enough. */
export async function copyText(text: string): Promise<void> {
  await vscode.env.clipboard.writeText(text);
  showQuietly(vscode.l10n.t("In the clipboard: {0}", text.split("\n", 1)[0] ?? ""));
}
