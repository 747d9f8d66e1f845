/** The item that stays in the status bar while the server is missing: the offer may hide behind a dialog, or by itself. */

import * as vscode from "vscode";
import type { Client } from "../client";
import type { Health } from "../model/health";
import type { ServerInstallation } from "./installation";

/** Where the gauge will be. */
const PRIORITY = 50;

export class InstallationItem implements vscode.Disposable {
  private item: vscode.StatusBarItem | undefined;
  private readonly subscription: vscode.Disposable;

  constructor(client: Client, installation: ServerInstallation) {
    const show = (): void => {
      this.show(client.health, installation.isDeclined);
    };
    this.subscription = vscode.Disposable.from(client.onHealth(show), installation.onDidDecline(show));
  }

  dispose(): void {
    this.subscription.dispose();
    this.item?.dispose();
  }

  private show({ state, help = "" }: Health, isDeclined: boolean): void {
    const isInstalling = state === "installing";
    const needsPython = state === "no python";
    if (!isInstalling && ((state !== "not installed" && !needsPython) || isDeclined)) {
      this.item?.dispose();
      this.item = undefined;
      return;
    }
    this.item ??= vscode.window.createStatusBarItem("ullage.installation", vscode.StatusBarAlignment.Left, PRIORITY);
    const { item } = this;
    item.name = vscode.l10n.t("Ullage Installation");
    const offer = needsPython ? vscode.l10n.t("Python needed for Ullage") : vscode.l10n.t("Install Ullage");
    const why = vscode.l10n.t("A coding agent has been used on this machine: see how full its context window is.");
    const text = isInstalling ? vscode.l10n.t("Installing Ullage…") : offer;
    item.text = `$(${isInstalling ? "loading~spin" : "pulse"}) ${text}`;
    item.tooltip = isInstalling ? undefined : needsPython ? help : why;
    item.command = isInstalling ? undefined : "ullage.installServer";
    item.accessibilityInformation = { label: needsPython ? `${text}. ${help}` : text, role: "button" };
    item.show();
  }
}
