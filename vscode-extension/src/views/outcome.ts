/** Tells the user what became of a command. */

import * as vscode from "vscode";
import type { Client } from "../client";
import { errorMessage } from "../logger";
import { shownAsText } from "../model/shownText";
import { UNDO_COMMAND, UNDO_REVIEW_COMMAND, type Outcome, type ResumeParams } from "../protocol";

/** Chosen: long enough to read a line in the status bar. */
const QUIET_MESSAGE_MS = 5_000;

/** Show an outcome; it is not waited for, since a notification may stay for as long as the user likes. */
export function showOutcome(client: Client, outcome: Outcome): void {
  if (outcome.outcome === "cancelled") {
    showQuietly(outcome.message);
    return;
  }
  offerNext(client, outcome).catch((error: unknown) => {
    void vscode.window.showErrorMessage(errorMessage(error));
  });
}

/** Show what needs no notification to dismiss. */
export function showQuietly(message: string): void {
  vscode.window.setStatusBarMessage(shownAsText(message), QUIET_MESSAGE_MS);
}

/** Tell an outcome with what the user may want next; without a button the editor would cut it to one line. */
async function offerNext(client: Client, { message, session, change, review, uri, resume, next }: Outcome): Promise<void> {
  const undo = vscode.l10n.t("Undo");
  const view = vscode.l10n.t("View");
  const inTerminal = vscode.l10n.t("Resume in Terminal");
  const canUndo = change !== null || review !== null;
  const canView = uri !== null || (canUndo && session !== null);
  const buttons = [
    ...(canUndo ? [undo] : []),
    ...(canView ? [view] : []),
    ...(next === null ? [] : [next.title]),
    ...(resume === null ? [] : [inTerminal]),
  ];
  const choice = await vscode.window.showInformationMessage(message, ...buttons);
  if (choice === undefined) {
    return;
  }
  if (choice === next?.title) {
    showOutcome(client, (await client.executeUntyped(next.command, [next.argument])) as Outcome);
  } else if (choice === undo) {
    showOutcome(
      client,
      await (review === null
        ? client.execute(UNDO_COMMAND, { session: session?.path ?? null, change })
        : client.execute(UNDO_REVIEW_COMMAND, review)),
    );
  } else if (choice === view) {
    await (uri === null
      ? vscode.commands.executeCommand("ullage.showPlot", session?.path)
      : vscode.commands.executeCommand("vscode.open", vscode.Uri.parse(uri, true)));
  } else if (resume !== null) {
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
