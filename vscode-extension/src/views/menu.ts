/** The menu of the gauge: what can be done with the session that it shows. */

import * as vscode from "vscode";
import type { Client } from "../client";
import { menu, type Abilities, type Action, type ActionCommand } from "../model/actions";
import { offeredDetail, offeredTitle } from "./actionTitles";
import { readableCheckpoints } from "./checkpoints";
import { sessionOf } from "./sessionOf";
import type { ShownSession } from "./shownSession";

interface Entry extends vscode.QuickPickItem {
  /** Undefined leads to what else there is. */
  readonly command: ActionCommand | undefined;
}

export async function showMenu(client: Client, shown: ShownSession, target: unknown): Promise<void> {
  const path = sessionOf(target, shown);
  if (path === null) {
    throw new Error(vscode.l10n.t("This workspace has no session of a coding agent."));
  }
  const found = Promise.all([shown.abilitiesOf(path), readableCheckpoints(client, path)]).then(([abilities, checkpoints]) => {
    const { entries, more } = menu(abilities, checkpoints.length > 0);
    return { entries: entries.map((action) => entryOf(action, abilities)), more: more.map((action) => entryOf(action, abilities)) };
  });
  const first = found.then(({ entries, more }) => [...entries, ...(more.length === 0 ? [] : [moreEntry(more)])]);
  const name = await shown.nameOf(path);
  let choice = await choose(first, name);
  if (choice !== undefined && choice.command === undefined) {
    choice = await choose(found.then(({ more }) => more), name);
  }
  if (choice?.command !== undefined) {
    await vscode.commands.executeCommand(choice.command, path);
  }
}

async function choose(entries: Promise<Entry[]>, name: string): Promise<Entry | undefined> {
  return vscode.window.showQuickPick(entries, {
    title: vscode.l10n.t("Context of {0}", name),
    placeHolder: vscode.l10n.t("What to do with this session"),
    matchOnDetail: true,
  });
}

function entryOf({ command, icon }: Action, abilities: Abilities): Entry {
  return { command, iconPath: new vscode.ThemeIcon(icon), label: offeredTitle(command, abilities), detail: offeredDetail(command, abilities) };
}

function moreEntry(more: readonly Entry[]): Entry {
  return {
    command: undefined,
    iconPath: new vscode.ThemeIcon("ellipsis"),
    label: vscode.l10n.t("More…"),
    detail: more.map(({ label }) => label).join(", "),
  };
}
