/** Chooses which session the views, the plot and the commands are about. */

import * as vscode from "vscode";
import type { Client } from "../client";
import { withSubagents } from "../model/tree";
import { SESSIONS_REQUEST } from "../protocol";
import { subjectOf } from "./sessionOf";
import type { ShownSession } from "./shownSession";

/** Show the session of a row, or one that the user chooses. */
export async function chooseSession(client: Client, shown: ShownSession, target: unknown): Promise<void> {
  const subject = subjectOf(target);
  if (subject?.kind === "session") {
    shown.choose(subject.row);
    return;
  }
  const { sessions } = await client.request(SESSIONS_REQUEST, { session: null });
  const entries = withSubagents(sessions).map((row) => ({
    row,
    label: row.title,
    description: row.gauge,
    detail: row.detail,
    iconPath: new vscode.ThemeIcon(row.isLive ? "pulse" : "comment-discussion"),
  }));
  if (entries.length === 0) {
    throw new Error(vscode.l10n.t("This workspace has no session of a coding agent."));
  }
  const choice = await vscode.window.showQuickPick(entries, {
    title: vscode.l10n.t("Choose Session"),
    placeHolder: vscode.l10n.t("The session that the views and the commands are about"),
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (choice !== undefined) {
    shown.choose(choice.row);
  }
}
