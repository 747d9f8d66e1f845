/** Chooses what is pinned: kept word for word by every compaction. */

import * as vscode from "vscode";
import type { Client } from "../client";
import { shownAsText } from "../model/shownText";
import { PIN_COMMAND, PINNABLE_REQUEST } from "../protocol";
import { showOutcome } from "./outcome";
import { withPatience } from "./progress";
import type { ShownSession } from "./shownSession";

/** Pin a message; undefined is one that the user chooses. */
export async function pinMessage(client: Client, session: string | null, entry?: string): Promise<void> {
  const chosen = entry ?? (await chooseEntry(client, session));
  if (chosen !== undefined) {
    showOutcome(client, await client.execute(PIN_COMMAND, { session, entry: chosen, text: null }));
  }
}

/** Pin a sentence of the user's, at first what is selected in the editor. */
export async function pinText(client: Client, shown: ShownSession, session: string | null): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const selected = editor === undefined ? "" : editor.document.getText(editor.selection);
  const text = await vscode.window.showInputBox({
    title: vscode.l10n.t("Pin Text in {0}", await shown.nameOf(session)),
    prompt: vscode.l10n.t("A rule or a fact that every compaction keeps word for word"),
    value: selected.trim(),
    ignoreFocusOut: true,
  });
  if (text !== undefined && text.trim() !== "") {
    showOutcome(client, await client.execute(PIN_COMMAND, { session, entry: null, text: text.trim() }));
  }
}

async function chooseEntry(client: Client, session: string | null): Promise<string | undefined> {
  const found = await withPatience(vscode.l10n.t("Looking for what can be pinned…"), (options) =>
    client.request(PINNABLE_REQUEST, { session }, options),
  );
  if (found === undefined) {
    return undefined;
  }
  const { title, rows } = found;
  if (rows.length === 0) {
    throw new Error(vscode.l10n.t("No message of {0} can be pinned. \"Context: Pin Text…\" pins a sentence.", title));
  }
  const entries = rows.map((row) => ({ entry: row.entry, label: shownAsText(row.title), detail: row.detail }));
  const choice = await vscode.window.showQuickPick(entries, {
    title: vscode.l10n.t("Pin Message in {0}", title),
    placeHolder: vscode.l10n.t("What every compaction keeps word for word"),
    matchOnDetail: true,
  });
  return choice?.entry;
}
