/** Chooses which session the gauge, the views, the plot and the commands are about. */

import * as vscode from "vscode";
import type { Client } from "../client";
import { shownAsText } from "../model/shownText";
import { withSubagents } from "../model/tree";
import { SESSIONS_REQUEST } from "../protocol";
import { showQuietly } from "./outcome";
import { subjectOf } from "./sessionOf";
import type { ShownSession } from "./shownSession";

interface Entry extends vscode.QuickPickItem {
  /** Null is the live one. */
  readonly path: string | null;
}

/** Show the session of a row, or one that the user chooses. */
export async function chooseSession(client: Client, shown: ShownSession, target: unknown): Promise<void> {
  const subject = subjectOf(target);
  const path = subject?.kind === "session" ? subject.row.session.path : await choosePath(client, shown);
  if (path !== undefined) {
    // The gauge shows it.
    showQuietly((await shown.choose(path)).message);
  }
}

/** Let the user choose; undefined where that is given up. */
async function choosePath(client: Client, shown: ShownSession): Promise<string | null | undefined> {
  const { sessions } = await client.request(SESSIONS_REQUEST, { session: null });
  const entries = withSubagents(sessions).map(({ session: { path }, title, gauge, detail, isLive }): Entry => {
    const isChosen = shown.isChosen && path === shown.path;
    const about = [gauge, detail, ...(isChosen ? [vscode.l10n.t("chosen")] : [])].join(" · ");
    return { path, label: shownAsText(title), detail: shownAsText(about), iconPath: new vscode.ThemeIcon(isChosen ? "pinned" : isLive ? "pulse" : "comment-discussion") };
  });
  if (entries.length === 0) {
    throw new Error(vscode.l10n.t("This workspace has no session of a coding agent."));
  }
  const live: Entry = { path: null, label: vscode.l10n.t("Follow the Live Session"), iconPath: new vscode.ThemeIcon("pinned-dirty") };
  const choice = await vscode.window.showQuickPick(shown.isChosen ? [live, ...entries] : entries, {
    title: vscode.l10n.t("Choose Session"),
    placeHolder: vscode.l10n.t("The session that the gauge, the views and the commands are about"),
    matchOnDetail: true,
  });
  return choice?.path;
}
