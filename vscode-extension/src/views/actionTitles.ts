/** What the actions of the gauge are called, in its hover and in its menu. */

import * as vscode from "vscode";
import { restoreWays, type Abilities, type ActionCommand } from "../model/actions";

export function actionTitle(command: ActionCommand): string {
  switch (command) {
    case "ullage.compactSession":
      return vscode.l10n.t("Compact…");
    case "ullage.pruneToolResults":
      return vscode.l10n.t("Prune…");
    case "ullage.writeCheckpoint":
      return vscode.l10n.t("Write Checkpoint");
    case "ullage.restoreCheckpoint":
      return vscode.l10n.t("Restore…");
    case "ullage.undoChange":
      return vscode.l10n.t("Undo Last Change…");
    case "ullage.redoChange":
      return vscode.l10n.t("Redo Undone Change");
    case "ullage.showWindow":
      return vscode.l10n.t("Open View");
    case "ullage.showPlot":
      return vscode.l10n.t("Plot Window");
    case "ullage.showStatus":
      return vscode.l10n.t("Show Status");
    case "ullage.turnAutomaticOn":
      return vscode.l10n.t("Automatic Compaction: Off");
    case "ullage.turnAutomaticOff":
      return vscode.l10n.t("Automatic Compaction: On");
  }
}

/** Return what an action is called where it is offered: where nothing may be written, a checkpoint is copied as text. */
export function offeredTitle(command: ActionCommand, abilities: Abilities): string {
  return isCopy(command, abilities) ? vscode.l10n.t("Copy Resume Text…") : actionTitle(command);
}

export function offeredDetail(command: ActionCommand, abilities: Abilities): string {
  return isCopy(command, abilities)
    ? vscode.l10n.t("Puts the working state of a checkpoint into the clipboard; no file is changed")
    : actionDetail(command);
}

function isCopy(command: ActionCommand, abilities: Abilities): boolean {
  return command === "ullage.restoreCheckpoint" && restoreWays(abilities).every((way) => way === "text");
}

/** Return what an action does, in half a line. */
function actionDetail(command: ActionCommand): string {
  switch (command) {
    case "ullage.compactSession":
      return vscode.l10n.t("Replace the older part by a summary, after a preview that can be edited");
    case "ullage.pruneToolResults":
      return vscode.l10n.t("Replace old tool output by placeholders");
    case "ullage.writeCheckpoint":
      return vscode.l10n.t("Keep the working state: goal, decisions, open items, files");
    case "ullage.restoreCheckpoint":
      return vscode.l10n.t("Make the working state of a checkpoint current again");
    case "ullage.showWindow":
      return vscode.l10n.t("What fills the window, and what could go");
    case "ullage.undoChange":
      return vscode.l10n.t("Take back the last compaction, prune or restore, after a question");
    case "ullage.redoChange":
      return vscode.l10n.t("Make it again, as long as nothing came since");
    case "ullage.showPlot":
      return vscode.l10n.t("How the window filled, with its compactions");
    case "ullage.showStatus":
      return vscode.l10n.t("The session's figures as text, kept up to date");
    case "ullage.turnAutomaticOn":
      return vscode.l10n.t("Turn it on for this session: it asks first, unless the configuration says otherwise");
    case "ullage.turnAutomaticOff":
      return vscode.l10n.t("It asks first, unless the configuration says otherwise. Turn it off for this session");
  }
}
