/** Searches memory while a question is typed; Enter opens the lines that answer it. */

import * as vscode from "vscode";
import type { Client } from "../client";
import { errorMessage } from "../logger";
import { answerRows, messageRow, type AnswerRow } from "../model/memoryAnswer";
import { MEMORY_CHOSEN_REQUEST, MEMORY_SEARCH_REQUEST, type MemoryHitRow } from "../protocol";
import { linesRange } from "./rowTree";

/** Chosen: who types fast asks once a word. */
const PAUSE_MS = 250;

type Entry = vscode.QuickPickItem & AnswerRow;

export async function searchMemory(client: Client): Promise<void> {
  const search = new MemorySearch(client);
  try {
    const chosen = await search.chosen();
    if (chosen !== undefined) {
      await open(client, search.query, chosen);
    }
  } finally {
    search.dispose();
  }
}

async function open(client: Client, query: string, { path, firstLine, lastLine }: MemoryHitRow): Promise<void> {
  await vscode.window.showTextDocument(vscode.Uri.file(path), { preview: true, selection: linesRange(firstLine, lastLine) });
  await client.request(MEMORY_CHOSEN_REQUEST, { query, path, firstLine });
}

class MemorySearch implements vscode.Disposable {
  private readonly pick = vscode.window.createQuickPick<Entry>();
  private pause: NodeJS.Timeout | undefined;
  private asked = new vscode.CancellationTokenSource();

  constructor(private readonly client: Client) {
    this.pick.title = vscode.l10n.t("Search Memory");
    this.pick.placeholder = vscode.l10n.t("When did we decide…");
    this.pick.onDidChangeValue((query) => {
      this.askSoon(query.trim());
    });
  }

  get query(): string {
    return this.pick.value.trim();
  }

  /** Show the list; return what the user chose, undefined where that is given up. */
  async chosen(): Promise<MemoryHitRow | undefined> {
    return new Promise((resolve) => {
      this.pick.onDidAccept(() => {
        const [entry] = this.pick.selectedItems;
        if (entry?.hit !== undefined) {
          resolve(entry.hit);
        }
      });
      this.pick.onDidHide(() => {
        resolve(undefined);
      });
      this.pick.show();
    });
  }

  dispose(): void {
    clearTimeout(this.pause);
    this.asked.cancel();
    this.pick.dispose();
  }

  private askSoon(query: string): void {
    clearTimeout(this.pause);
    this.asked.cancel();
    this.pick.busy = query !== "";
    if (query === "") {
      this.pick.items = [];
      return;
    }
    this.pause = setTimeout(() => void this.ask(query), PAUSE_MS);
  }

  private async ask(query: string): Promise<void> {
    this.asked = new vscode.CancellationTokenSource();
    const { token } = this.asked;
    let rows: readonly AnswerRow[];
    try {
      rows = answerRows(await this.client.request(MEMORY_SEARCH_REQUEST, { query }, { token }));
    } catch (error) {
      rows = [messageRow(errorMessage(error))];
    }
    if (!token.isCancellationRequested) {
      this.pick.items = rows.map((row): Entry => ({ ...row, alwaysShow: true, iconPath: new vscode.ThemeIcon(row.hit === undefined ? "info" : "quote") }));
      this.pick.busy = false;
    }
  }
}
