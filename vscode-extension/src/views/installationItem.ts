/** The item that stays in the status bar while the server is missing: the offer may hide behind a dialog, or by itself. */

import * as vscode from "vscode";
import type { Client } from "../client";
import type { HealthState } from "../model/health";
import type { ServerInstallation } from "./installation";

/** Where the gauge will be. */
const PRIORITY = 50;

export class InstallationItem implements vscode.Disposable {
  private item: vscode.StatusBarItem | undefined;
  private readonly subscription: vscode.Disposable;

  constructor(client: Client, installation: ServerInstallation) {
    const show = (): void => {
      this.show(client.state, installation.isDeclined);
    };
    this.subscription = vscode.Disposable.from(client.onHealth(show), installation.onDidDecline(show));
  }

  dispose(): void {
    this.subscription.dispose();
    this.item?.dispose();
  }

  private show(state: HealthState, isDeclined: boolean): void {
    const isInstalling = state === "installing";
    if (!isInstalling && (state !== "not installed" || isDeclined)) {
      this.item?.dispose();
      this.item = undefined;
      return;
    }
    this.item ??= vscode.window.createStatusBarItem("ullage.installation", vscode.StatusBarAlignment.Left, PRIORITY);
    const { item } = this;
    item.name = vscode.l10n.t("Ullage Installation");
    const text = isInstalling ? vscode.l10n.t("Installing Ullage…") : vscode.l10n.t("Install Ullage");
    item.text = `$(${isInstalling ? "loading~spin" : "pulse"}) ${text}`;
    item.tooltip = isInstalling ? undefined : vscode.l10n.t("A coding agent has been used on this machine: see how full its context window is.");
    item.command = isInstalling ? undefined : "ullage.installServer";
    item.accessibilityInformation = { label: text, role: "button" };
    item.show();
  }
}
