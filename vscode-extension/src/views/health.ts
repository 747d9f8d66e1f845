/** How the server is: in the language status, and for the views where they have nothing else to show. */

import * as vscode from "vscode";
import type { Client } from "../client";
import { DOCUMENTS } from "../model/documents";
import { healthItem, type Health, type HealthItem } from "../model/health";

export class HealthStatus implements vscode.Disposable {
  /** Made when there is something to say: where no server was ever needed there is no item. */
  private item: vscode.LanguageStatusItem | undefined;
  private readonly subscription: vscode.Disposable;

  constructor(private readonly client: Client) {
    this.subscription = vscode.Disposable.from(
      client.onHealth(({ state }) => {
        void vscode.commands.executeCommand("setContext", "ullage.server", state);
        this.show();
      }),
      client.onWorking(() => {
        this.show();
      }),
    );
  }

  dispose(): void {
    this.subscription.dispose();
    this.item?.dispose();
  }

  private show(): void {
    const { health, isWorking } = this.client;
    const { severity, isBusy, command } = healthItem(health, isWorking);
    this.item ??= vscode.languages.createLanguageStatusItem("ullage.server", [...DOCUMENTS]);
    const { item } = this;
    item.name = vscode.l10n.t("Ullage Server");
    const text = healthText(health.state);
    item.text = text;
    item.detail = health.detail;
    item.severity = severity === "error" ? vscode.LanguageStatusSeverity.Error : vscode.LanguageStatusSeverity.Information;
    item.busy = isBusy;
    item.command = { command, title: commandTitle(command) };
    item.accessibilityInformation = { label: text };
  }
}

export function healthText(state: Health["state"]): string {
  switch (state) {
    case "starting":
      return vscode.l10n.t("Ullage: starting");
    case "running":
      return vscode.l10n.t("Ullage: running");
    case "stopped":
      return vscode.l10n.t("Ullage: stopped");
    case "not installed":
      return vscode.l10n.t("Ullage: not installed");
    case "no python":
      return vscode.l10n.t("Ullage: Python needed");
    case "installing":
      return vscode.l10n.t("Ullage: installing");
    case "no interpreter":
      return vscode.l10n.t("Ullage: no Python interpreter");
  }
}

export function commandTitle(command: HealthItem["command"]): string {
  switch (command) {
    case "ullage.showLogs":
      return vscode.l10n.t("Show Logs");
    case "ullage.restartServer":
      return vscode.l10n.t("Restart Server");
    case "ullage.installServer":
      return vscode.l10n.t("Install Server");
    case "ullage.openInterpreterSetting":
      return vscode.l10n.t("Open Setting");
  }
}
