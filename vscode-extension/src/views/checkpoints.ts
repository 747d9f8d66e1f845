/** Chooses checkpoints: to make one current again, and to compare two. */

import * as vscode from "vscode";
import type { Client } from "../client";
import { restoreWays, type RestoreWay } from "../model/actions";
import { shownAsText } from "../model/shownText";
import { CHECKPOINTS_REQUEST, RESTORE_COMMAND, type CheckpointRow } from "../protocol";
import { showOutcome } from "./outcome";
import type { ShownSession } from "./shownSession";

/** Restore a checkpoint; undefined is one that the user chooses first. */
export async function restoreCheckpoint(
  client: Client,
  shown: ShownSession,
  session: string | null,
  checkpoint?: CheckpointRow,
): Promise<void> {
  const name = await shown.nameOf(session);
  const row = checkpoint ?? (await chooseOf(await readableCheckpoints(client, session), vscode.l10n.t("Restore Checkpoint of {0}", name)));
  if (row === undefined) {
    return;
  }
  const way = await chooseWay(vscode.l10n.t("Restore {0} of {1}", row.checkpoint, name), restoreWays(await shown.abilitiesOf(session)));
  if (way !== undefined) {
    await restore(client, session, row.checkpoint, way);
  }
}

/** Restore a checkpoint that is known by its name; null is the latest. */
export async function restoreNamed(
  client: Client,
  shown: ShownSession,
  session: string | null,
  checkpoint: string | null,
): Promise<void> {
  const rows = await readableCheckpoints(client, session);
  const isMeant = ({ isLatest, checkpoint: name }: CheckpointRow): boolean =>
    checkpoint === null ? isLatest : name === checkpoint;
  await restoreCheckpoint(client, shown, session, rows.find(isMeant));
}

/** Restore without asking which way; where a session is written to, the server asks first. */
export async function restore(
  client: Client,
  session: string | null,
  checkpoint: string,
  into: RestoreWay,
): Promise<void> {
  const outcome = await client.execute(RESTORE_COMMAND, { session, checkpoint, into });
  if (outcome.text === null) {
    showOutcome(client, outcome);
    return;
  }
  await vscode.env.clipboard.writeText(outcome.text);
  showOutcome(client, { ...outcome, message: vscode.l10n.t("{0}. It is in the clipboard.", outcome.message) });
}

/** Compare two checkpoints; undefined is one that the user chooses first. */
export async function compareCheckpoints(
  client: Client,
  shown: ShownSession,
  session: string | null,
  checkpoint?: CheckpointRow,
): Promise<void> {
  const title = vscode.l10n.t("Compare Checkpoints of {0}", await shown.nameOf(session));
  const rows = await readableCheckpoints(client, session);
  const newer = checkpoint ?? (await chooseOf(rows, title));
  if (newer === undefined) {
    return;
  }
  const previous = checkpoint === undefined ? undefined : rows.find((row) => row.checkpoint === checkpoint.previous);
  const older = previous ?? (await chooseOf(rows.filter((row) => row.path !== newer.path), title));
  if (older !== undefined) {
    await vscode.commands.executeCommand(
      "vscode.diff",
      vscode.Uri.file(older.path),
      vscode.Uri.file(newer.path),
      `${older.checkpoint} ↔ ${newer.checkpoint}`,
    );
  }
}

export async function readableCheckpoints(client: Client, session: string | null): Promise<readonly CheckpointRow[]> {
  const { rows } = await client.request(CHECKPOINTS_REQUEST, { session });
  return rows.filter((row) => row.isReadable);
}

async function chooseOf(rows: readonly CheckpointRow[], title: string): Promise<CheckpointRow | undefined> {
  if (rows.length === 0) {
    throw new Error(vscode.l10n.t("{0}: there is none for that yet. \"Context: Write Checkpoint\" makes one.", title));
  }
  const entries = rows.map((row) => ({
    row,
    label: shownAsText(row.title),
    description: shownAsText(row.detail),
    iconPath: new vscode.ThemeIcon(row.isLatest ? "bookmark" : "history"),
  }));
  const choice = await vscode.window.showQuickPick(entries, {
    title,
    placeHolder: vscode.l10n.t("Choose a checkpoint"),
    matchOnDescription: true,
  });
  return choice?.row;
}

async function chooseWay(title: string, ways: readonly RestoreWay[]): Promise<RestoreWay | undefined> {
  const entries = ways.map((way) => ({ way, ...wayItem(way) }));
  const choice = await vscode.window.showQuickPick(entries, {
    title,
    placeHolder: vscode.l10n.t("Where the working state goes"),
    matchOnDetail: true,
  });
  return choice?.way;
}

function wayItem(way: RestoreWay): vscode.QuickPickItem {
  switch (way) {
    case "new":
      return {
        label: vscode.l10n.t("Into a New Session (recommended)"),
        detail: vscode.l10n.t("Begins a session that starts with the working state; this one stays as it is."),
        iconPath: new vscode.ThemeIcon("add"),
      };
    case "session":
      return {
        label: vscode.l10n.t("Into This Session"),
        detail: vscode.l10n.t("The working state follows what was said last; it can be undone."),
        iconPath: new vscode.ThemeIcon("history"),
      };
    case "text":
      return {
        label: vscode.l10n.t("Copy Resume Text"),
        detail: vscode.l10n.t("Puts the working state into the clipboard; no file is changed."),
        iconPath: new vscode.ThemeIcon("copy"),
      };
  }
}
