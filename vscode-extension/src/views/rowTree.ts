/** A view of rows: loaded when they are looked at, asked for anew when the server says so. */

import * as vscode from "vscode";
import { errorMessage, type Logger } from "../logger";
import type { TreeRow } from "../model/tree";

/** Return the rows below a row, or the first ones. */
export type LoadRows = (parent: TreeRow | undefined) => Promise<readonly TreeRow[]> | readonly TreeRow[];

export class RowTree implements vscode.TreeDataProvider<TreeRow>, vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.emitter.event;
  readonly view: vscode.TreeView<TreeRow>;
  private isStale = false;
  /** How often the first rows were asked for. */
  private nLoads = 0;
  private readonly subscription: vscode.Disposable;

  constructor(
    id: string,
    private readonly load: LoadRows,
    private readonly logger: Logger,
  ) {
    this.view = vscode.window.createTreeView(id, { treeDataProvider: this, showCollapseAll: true });
    this.subscription = vscode.Disposable.from(
      this.emitter,
      this.view,
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible && this.isStale) {
          this.refresh();
        }
      }),
    );
  }

  /** Ask anew, now or when the view is looked at. */
  refresh(): void {
    this.isStale = !this.view.visible;
    if (this.view.visible) {
      this.emitter.fire(undefined);
    }
  }

  /** Show a number at the view and its container; none for 0. */
  showCount(count: number, tooltip: string): void {
    this.view.badge = count === 0 ? undefined : { value: count, tooltip };
  }

  getTreeItem(row: TreeRow): vscode.TreeItem {
    const item = new vscode.TreeItem(row.title, collapsibleState(row.state));
    item.id = row.id;
    item.description = row.detail;
    item.contextValue = row.context;
    item.accessibilityInformation = { label: row.label };
    item.iconPath = new vscode.ThemeIcon(row.icon, iconColor(row.level));
    item.tooltip = row.tooltip === "" ? row.label : new vscode.MarkdownString(row.tooltip);
    const command = clickCommand(row);
    if (command !== undefined) {
      item.command = command;
    }
    return item;
  }

  async getChildren(row?: TreeRow): Promise<TreeRow[]> {
    if (row === undefined) {
      this.nLoads += 1;
    }
    const load = this.nLoads;
    try {
      const rows = await this.load(row);
      // Not deleted: it is an accessor of the editor's, and the view would never show a message again.
      this.view.message = "";
      return [...rows];
    } catch (error) {
      this.logger.warn(`${this.view.title ?? "The view"}: ${errorMessage(error)}`);
      // What was asked below a row that has been loaded anew since, or is gone, concerns nobody.
      if (load === this.nLoads) {
        this.view.message = errorMessage(error);
      }
      return [];
    }
  }

  dispose(): void {
    this.subscription.dispose();
  }
}

function collapsibleState(state: TreeRow["state"]): vscode.TreeItemCollapsibleState {
  switch (state) {
    case "leaf":
      return vscode.TreeItemCollapsibleState.None;
    case "collapsed":
      return vscode.TreeItemCollapsibleState.Collapsed;
    case "expanded":
      return vscode.TreeItemCollapsibleState.Expanded;
  }
}

function iconColor(level: TreeRow["level"]): vscode.ThemeColor | undefined {
  return level === "normal" ? undefined : new vscode.ThemeColor(`list.${level}Foreground`);
}

function openCommand(uri: vscode.Uri, options: vscode.TextDocumentShowOptions): vscode.Command {
  return { command: "vscode.open", title: vscode.l10n.t("Open"), arguments: [uri, options] };
}

/** Return the range of whole lines; an editor takes what is beyond a line for its end. */
export function linesRange(firstLine: number, lastLine: number): vscode.Range {
  return new vscode.Range(firstLine, 0, lastLine, 2 ** 30);
}

function clickCommand({ target, subject }: TreeRow): vscode.Command | undefined {
  switch (target?.kind) {
    case undefined:
      return undefined;
    case "choose":
      return { command: "ullage.chooseSession", title: vscode.l10n.t("Show This Session"), arguments: [{ subject }] };
    case "file":
      return openCommand(vscode.Uri.file(target.path), { preview: true });
    case "lines":
      return openCommand(vscode.Uri.file(target.path), { preview: true, selection: linesRange(target.firstLine, target.lastLine) });
    case "document":
      return openCommand(vscode.Uri.parse(target.uri, true), { preview: true });
  }
}
