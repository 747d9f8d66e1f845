/** The gauge in the status bar. */

import * as vscode from "vscode";
import { gaugeItem } from "../model/gauge";
import type { GaugeParams } from "../protocol";

/** Chosen: left of what most extensions show (0), right of branch and synchronization (10,000 and more). */
const PRIORITY = 50;

export class GaugeStatusBarItem implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;

  constructor(command: string) {
    this.item = vscode.window.createStatusBarItem("ullage.gauge", vscode.StatusBarAlignment.Left, PRIORITY);
    this.item.name = vscode.l10n.t("Context Window");
    this.item.command = command;
  }

  /** Show what the server says; hide the item while there is nothing to say. */
  update(params: GaugeParams | undefined): void {
    const gauge = params === undefined ? undefined : gaugeItem(params);
    if (gauge === undefined) {
      this.item.hide();
      return;
    }
    this.item.text = gauge.text;
    this.item.tooltip = new vscode.MarkdownString(gauge.tooltip);
    this.item.backgroundColor =
      gauge.background === undefined ? undefined : new vscode.ThemeColor(gauge.background);
    this.item.accessibilityInformation = { label: gauge.label };
    this.item.show();
  }

  dispose(): void {
    this.item.dispose();
  }
}
