/** The gauge in the status bar. */

import * as vscode from "vscode";
import type { Client } from "../client";
import { commandLink, hoverActions } from "../model/actions";
import { gaugeItem } from "../model/gauge";
import type { GaugeParams } from "../protocol";
import { actionTitle } from "./actionTitles";

/** Chosen: left of what most extensions show (0), right of branch and synchronization (10,000 and more). */
const PRIORITY = 50;

export class GaugeStatusBarItem implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;
  private readonly subscription: vscode.Disposable;
  private params: GaugeParams | undefined;
  private isBusy = false;

  constructor(client: Client) {
    this.item = vscode.window.createStatusBarItem("ullage.gauge", vscode.StatusBarAlignment.Left, PRIORITY);
    this.item.name = vscode.l10n.t("Context Window");
    this.subscription = vscode.Disposable.from(
      this.item,
      client.onGauge((params) => {
        this.params = params;
        this.show();
      }),
      client.onWorking((isBusy) => {
        this.isBusy = isBusy;
        this.show();
      }),
    );
  }

  dispose(): void {
    this.subscription.dispose();
  }

  private show(): void {
    const { params, item } = this;
    const gauge = params === undefined ? undefined : gaugeItem(params, this.isBusy);
    if (params === undefined || params.session === null || gauge === undefined) {
      item.hide();
      return;
    }
    item.text = gauge.text;
    item.tooltip = tooltip(params, params.session.path);
    item.backgroundColor = gauge.background === undefined ? undefined : new vscode.ThemeColor(gauge.background);
    item.accessibilityInformation = { label: gauge.label, role: "button" };
    item.command = {
      command: "ullage.showMenu",
      title: vscode.l10n.t("Show Menu"),
      arguments: [params.session.path],
    };
    item.show();
  }
}

/**
 * Return the server's words and a line of links below them.
 *
 * One string has one trust: of all commands, a click may run only those of the line, none of which writes to a
 * transcript without a question. The server escapes all that it takes from a session.
 */
function tooltip(params: GaugeParams, sessionPath: string): vscode.MarkdownString {
  const commands = hoverActions({ ...params, isTrusted: vscode.workspace.isTrusted });
  const links = commands.map((command) => commandLink(actionTitle(command), command, sessionPath));
  const markdown = new vscode.MarkdownString(`${params.tooltip}\n\n${links.join(" · ")}`);
  markdown.isTrusted = { enabledCommands: commands };
  return markdown;
}
