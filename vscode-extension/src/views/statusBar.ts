/** The gauge in the status bar. */

import * as vscode from "vscode";
import type { Client } from "../client";
import { commandLink, hoverActions } from "../model/actions";
import { absentItem, gaugeItem } from "../model/gauge";
import type { GaugeParams } from "../protocol";
import { actionTitle } from "./actionTitles";
import { commandTitle, healthText } from "./health";

/** Chosen: left of what most extensions show (0), right of branch and synchronization (10,000 and more). */
const PRIORITY = 50;

export class GaugeStatusBarItem implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;
  private readonly subscription: vscode.Disposable;
  private params: GaugeParams | undefined;
  /** Whether a gauge stood here last: then it is missed. */
  private wasShown = false;

  constructor(private readonly client: Client) {
    this.item = vscode.window.createStatusBarItem("ullage.gauge", vscode.StatusBarAlignment.Left, PRIORITY);
    this.item.name = vscode.l10n.t("Context Window");
    this.subscription = vscode.Disposable.from(
      this.item,
      client.onGauge((params) => {
        this.params = params;
        this.show();
      }),
      client.onWorking(() => {
        this.show();
      }),
      client.onHealth(() => {
        this.show();
      }),
    );
  }

  dispose(): void {
    this.subscription.dispose();
  }

  private show(): void {
    const { params, item } = this;
    if (params === undefined) {
      this.showAbsence();
      return;
    }
    const gauge = gaugeItem(params, this.client.isWorking);
    this.wasShown = gauge !== undefined;
    if (params.session === null || gauge === undefined) {
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

  /** While no server tells a gauge, the item says so and leads to what mends that. */
  private showAbsence(): void {
    const { item, client: { health } } = this;
    const absent = absentItem(health, this.wasShown);
    if (absent === undefined) {
      item.hide();
      return;
    }
    const text = health.help ?? [healthText(health.state), health.detail].filter((words) => words !== "").join(" · ");
    item.text = absent.text;
    item.tooltip = vscode.l10n.t("{0}\n\nA click: {1}", text, commandTitle(absent.command));
    item.backgroundColor = undefined;
    item.accessibilityInformation = { label: vscode.l10n.t("Context use unknown. {0}", text), role: "button" };
    item.command = { command: absent.command, title: commandTitle(absent.command) };
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
