/** Chooses what is pruned: all that could go, with what the rule would choose ticked. */

import * as vscode from "vscode";
import type { Client } from "../client";
import { errorMessage } from "../logger";
import type { Subject } from "../model/tree";
import { shownAsText } from "../model/shownText";
import { PRUNABLE_REQUEST, PRUNE_COMMAND, type PrunableRow } from "../protocol";
import { showOutcome } from "./outcome";
import { withPatience } from "./progress";
import { showVirtualDocument } from "./virtualDocument";

interface Entry extends vscode.QuickPickItem {
  readonly row: PrunableRow;
}

/** Let the user tick items; Enter prunes them, and needs no second question. */
export async function pruneToolResults(client: Client, session: string | null): Promise<void> {
  const prunable = await withPatience(vscode.l10n.t("Looking for what can be pruned…"), (options) =>
    client.request(PRUNABLE_REQUEST, { session }, options),
  );
  if (prunable === undefined) {
    return;
  }
  const { headline, title, rows } = prunable;
  if (rows.length === 0) {
    void vscode.window.showInformationMessage(`${headline} · ${title}`);
    return;
  }
  const buttons = [{ iconPath: new vscode.ThemeIcon("open-preview"), tooltip: vscode.l10n.t("Look at It") }];
  const entries = rows.map(
    (row): Entry => ({ row, label: shownAsText(row.title), description: row.detail, picked: row.isChosen, buttons }),
  );
  const chosen = await chosenEntries(entries, title, headline);
  if (chosen.length === 0) {
    return;
  }
  const items = chosen.map(({ row }) => row.item);
  showOutcome(client, await client.execute(PRUNE_COMMAND, { session, items, isEverything: false, isConfirmed: true }));
}

/** Let the user tick entries, and say all the while what that frees; none where it is given up. */
function chosenEntries(entries: readonly Entry[], title: string, headline: string): Promise<readonly Entry[]> {
  const pick = vscode.window.createQuickPick<Entry>();
  const proposed = entries.filter(({ picked }) => picked);
  pick.title = vscode.l10n.t("Prune Tool Results of {0}", title);
  pick.canSelectMany = true;
  pick.matchOnDescription = true;
  pick.items = entries;
  pick.selectedItems = proposed;
  // It stays while an item is looked at.
  pick.ignoreFocusOut = true;
  const tell = (selected: readonly Entry[]): void => {
    const isProposed = selected.length === proposed.length && selected.every(({ picked }) => picked);
    pick.placeholder = isProposed ? headline : freedText(selected, entries.length);
  };
  tell(proposed);
  return new Promise((resolve) => {
    pick.onDidChangeSelection(tell);
    pick.onDidTriggerItemButton(({ item }) => {
      look(item);
    });
    pick.onDidAccept(() => {
      resolve(pick.selectedItems);
      pick.hide();
    });
    pick.onDidHide(() => {
      resolve([]);
      pick.dispose();
    });
    pick.show();
  });
}

/** Open an entry beside the list, which keeps the focus. */
function look({ row }: Entry): void {
  showVirtualDocument(vscode.Uri.parse(row.uri, true), { preserveFocus: true }).catch((error: unknown) => {
    void vscode.window.showErrorMessage(errorMessage(error));
  });
}

function freedText(selected: readonly Entry[], nEntries: number): string {
  const nTokens = selected.reduce((sum, { row }) => sum + row.nTokens, 0);
  return vscode.l10n.t("{0} of {1} chosen, {2} tokens freed", selected.length, nEntries, nTokens.toLocaleString("en"));
}

/** Prune one item; the server asks first. */
export async function pruneItem(client: Client, session: string, item: string): Promise<void> {
  const argument = { session, items: [item], isEverything: false, isConfirmed: false };
  showOutcome(client, await client.execute(PRUNE_COMMAND, argument));
}

/** Say why a row is not pruned, to who has pressed Delete on it. */
export function sayWhyNotPruned(subject: Subject | undefined): void {
  void vscode.window.showInformationMessage(whyNotPruned(subject));
}

function whyNotPruned(subject: Subject | undefined): string {
  if (subject?.kind !== "window" || subject.row.kind !== "entry") {
    return vscode.l10n.t("Only a single tool result is pruned here. \"Context: Prune Tool Results…\" prunes several.");
  }
  return subject.session.canWrite
    ? vscode.l10n.t("This entry cannot be pruned: it is no tool output, is protected, or would free nothing.")
    : vscode.l10n.t("This entry cannot be pruned: its session is only read.");
}
