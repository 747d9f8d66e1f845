/** The menu of the gauge: what can be done with the session that it shows. */

import * as vscode from "vscode";
import { menuActions, type ActionCommand } from "../model/actions";
import { actionDetail, actionTitle } from "./actionTitles";
import { sessionOf } from "./sessionOf";
import type { ShownSession } from "./shownSession";

interface Entry extends vscode.QuickPickItem {
  readonly command: ActionCommand;
}

export async function showMenu(shown: ShownSession, target: unknown): Promise<void> {
  const path = sessionOf(target, shown);
  if (path === null) {
    throw new Error(vscode.l10n.t("This workspace has no session of a coding agent."));
  }
  const entries: Entry[] = menuActions(shown.abilitiesOf(path)).map(({ command, icon }) => ({
    command,
    iconPath: new vscode.ThemeIcon(icon),
    label: actionTitle(command),
    detail: actionDetail(command),
  }));
  const choice = await vscode.window.showQuickPick(entries, {
    title: vscode.l10n.t("Context of {0}", shown.nameOf(path)),
    placeHolder: vscode.l10n.t("What to do with this session"),
    matchOnDetail: true,
  });
  if (choice !== undefined) {
    await vscode.commands.executeCommand(choice.command, path);
  }
}
