/** What the actions of the gauge are called, in its hover and in its menu. */

import * as vscode from "vscode";
import type { ActionCommand } from "../model/actions";

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
    case "ullage.showWindow":
      return vscode.l10n.t("Open View");
    case "ullage.turnAutomaticOn":
      return vscode.l10n.t("Turn Automatic Compaction On");
    case "ullage.turnAutomaticOff":
      return vscode.l10n.t("Turn Automatic Compaction Off");
  }
}

/** Return what an action does, in half a line. */
export function actionDetail(command: ActionCommand): string {
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
    case "ullage.turnAutomaticOn":
      return vscode.l10n.t("For this session; you are asked first, unless the configuration says otherwise");
    case "ullage.turnAutomaticOff":
      return vscode.l10n.t("For this session");
  }
}
