/** Chooses what is pruned: all that could go, with what the rule would choose ticked. */

import * as vscode from "vscode";
import type { Client } from "../client";
import { PRUNABLE_REQUEST, PRUNE_COMMAND, type PrunableRow } from "../protocol";
import { showOutcome } from "./outcome";

interface Entry extends vscode.QuickPickItem {
  readonly row: PrunableRow;
}

/** Let the user tick items; Enter prunes them, and needs no second question. */
export async function pruneToolResults(client: Client, session: string | null): Promise<void> {
  const { headline, rows } = await client.request(PRUNABLE_REQUEST, { session });
  if (rows.length === 0) {
    void vscode.window.showInformationMessage(headline);
    return;
  }
  const entries = rows.map(
    (row): Entry => ({ row, label: row.title, description: row.detail, picked: row.isChosen }),
  );
  const chosen = await vscode.window.showQuickPick(entries, {
    title: vscode.l10n.t("Prune Tool Results"),
    placeHolder: headline,
    canPickMany: true,
    matchOnDescription: true,
  });
  if (chosen === undefined || chosen.length === 0) {
    return;
  }
  const items = chosen.map(({ row }) => row.item);
  showOutcome(client, await client.execute(PRUNE_COMMAND, { session, items, isEverything: false, isConfirmed: true }));
}

/** Prune one item; the server asks first. */
export async function pruneItem(client: Client, session: string, item: string): Promise<void> {
  const argument = { session, items: [item], isEverything: false, isConfirmed: false };
  showOutcome(client, await client.execute(PRUNE_COMMAND, argument));
}
