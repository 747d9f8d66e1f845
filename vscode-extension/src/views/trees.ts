/** The three views of the container "Context": the window, the checkpoints and the memory. */

import * as vscode from "vscode";
import type { Client } from "../client";
import type { Logger } from "../logger";
import {
  checkpointTreeRow,
  memoriesTreeRow,
  memoryTreeRow,
  sessionTreeRow,
  subagentsTreeRow,
  windowTreeRow,
  type TreeRow,
} from "../model/tree";
import {
  CHECKPOINTS_REQUEST,
  MEMORY_REQUEST,
  SESSIONS_REQUEST,
  WINDOW_REQUEST,
  type SessionRow,
} from "../protocol";
import { RowTree } from "./rowTree";
import type { ShownSession } from "./shownSession";

export class Trees implements vscode.Disposable {
  private readonly window: RowTree;
  private readonly checkpoints: RowTree;
  private readonly memory: RowTree;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly client: Client,
    private readonly shown: ShownSession,
    logger: Logger,
  ) {
    this.window = new RowTree("ullage.window", (row) => this.windowRows(row), logger);
    this.checkpoints = new RowTree("ullage.checkpoints", (row) => (row === undefined ? this.checkpointRows() : []), logger);
    this.memory = new RowTree("ullage.memory", (row) => this.memoryRows(row), logger);
    this.subscription = vscode.Disposable.from(
      this.window,
      this.checkpoints,
      this.memory,
      shown.onDidChange(() => {
        this.refresh();
      }),
      client.onHealth(({ state, detail }) => {
        // What an empty view offers stands below.
        this.window.view.description = detail;
        if (state !== "starting") {
          this.refresh();
          this.tellMemory();
        }
      }),
      client.onChanged(({ what }) => {
        for (const name of what) {
          ({ sessions: this.window, checkpoints: this.checkpoints, memory: this.memory })[name].refresh();
        }
        if (what.includes("memory")) {
          this.tellMemory();
        }
      }),
    );
  }

  refresh(): void {
    for (const tree of [this.window, this.checkpoints, this.memory]) {
      tree.refresh();
    }
  }

  /**
   * Return the row of the view of the window that the keyboard is on.
   *
   * An extension is told only what is selected, and the command that selects a row opens it: its place in the selection
   * is changed, and changed back.
   */
  async focusedRow(): Promise<TreeRow | undefined> {
    const { selection } = this.window.view;
    await vscode.commands.executeCommand("list.toggleSelection");
    const toggled = this.window.view.selection;
    await vscode.commands.executeCommand("list.toggleSelection");
    return toggled.find((row) => !selection.includes(row)) ?? selection.find((row) => !toggled.includes(row));
  }

  dispose(): void {
    this.subscription.dispose();
  }

  /** What commands and the number at the container need of memory they are told without its view, too. */
  private tellMemory(): void {
    if (!this.memory.view.visible) {
      void this.memory.getChildren();
    }
  }

  private async windowRows(parent: TreeRow | undefined): Promise<readonly TreeRow[]> {
    if (parent === undefined) {
      return this.sessionRows();
    }
    const { subject } = parent;
    switch (subject.kind) {
      case "session":
        return this.rowsOfSession(subject.row);
      case "subagents":
        return subject.rows.map((row) => this.sessionRow(row));
      case "window":
        return subject.row.children.map((row) => windowTreeRow(row, subject.session));
      case "checkpoint":
      case "memory":
      case "memories":
        return [];
    }
  }

  private async sessionRows(): Promise<readonly TreeRow[]> {
    // The editor keeps a row as it came first, and the shown session's comes expanded.
    if (!this.client.isRunning || !this.shown.isKnown) {
      return [];
    }
    const { sessions } = await this.client.request(SESSIONS_REQUEST, { session: null });
    return sessions.map((row) => this.sessionRow(row));
  }

  private sessionRow(row: SessionRow): TreeRow {
    return sessionTreeRow(row, row.session.path === this.shown.path);
  }

  private async rowsOfSession(row: SessionRow): Promise<readonly TreeRow[]> {
    const { path } = row.session;
    const { rows } = await this.client.request(WINDOW_REQUEST, { session: path });
    const ofWindow = rows.map((one) => windowTreeRow(one, row));
    return row.subagents.length === 0 ? ofWindow : [...ofWindow, subagentsTreeRow(row, vscode.l10n.t("Subagents"))];
  }

  private async checkpointRows(): Promise<readonly TreeRow[]> {
    const { path } = this.shown;
    if (path === null || !this.client.isRunning) {
      return [];
    }
    const { rows } = await this.client.request(CHECKPOINTS_REQUEST, { session: path });
    return rows.map((row) => checkpointTreeRow(row, path));
  }

  private async memoryRows(parent: TreeRow | undefined): Promise<readonly TreeRow[]> {
    if (parent !== undefined) {
      return parent.subject.kind === "memories" ? parent.subject.rows.map(memoryTreeRow) : [];
    }
    if (!this.client.isRunning) {
      void vscode.commands.executeCommand("setContext", "ullage.hasNoMemory", false);
      this.memory.showCount(0, "");
      return [];
    }
    const { rows, inbox, recalled, changes, canDream, canUndoReview } = await this.client.request(MEMORY_REQUEST, { session: null });
    // Known, not only unknown as yet.
    const hasNone = [rows, inbox, recalled, changes].every(({ length }) => length === 0);
    void vscode.commands.executeCommand("setContext", "ullage.hasNoMemory", hasNone);
    void vscode.commands.executeCommand("setContext", "ullage.canDream", canDream);
    void vscode.commands.executeCommand("setContext", "ullage.canUndoReview", canUndoReview);
    const waiting = vscode.l10n.t("Waiting for a review: {0}", inbox.length);
    this.memory.showCount(inbox.length, waiting);
    return [
      ...(inbox.length === 0 ? [] : [memoriesTreeRow("item", inbox, vscode.l10n.t("Inbox"))]),
      ...(changes.length === 0 ? [] : [memoriesTreeRow("change", changes, vscode.l10n.t("Changed from outside"))]),
      ...(recalled.length === 0 ? [] : [memoriesTreeRow("recall", recalled, vscode.l10n.t("Recalled today"))]),
      ...rows.map(memoryTreeRow),
    ];
  }
}
