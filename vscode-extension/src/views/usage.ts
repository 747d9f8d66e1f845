/** What the sessions of the workspace used by day, in a panel of its own: as it was when it was asked for. */

import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import type { Client } from "../client";
import { usagePage } from "../model/usagePage";
import { USAGE_REQUEST } from "../protocol";
import { withPatience } from "./progress";

const VIEW_TYPE = "ullage.usage";

/** The one that is open. */
let panel: vscode.WebviewPanel | undefined;

export async function showUsage(client: Client): Promise<void> {
  const heading = vscode.l10n.t("Usage by Day");
  const usage = await withPatience(heading, (options) => client.request(USAGE_REQUEST, { session: null }, options));
  if (usage === undefined) {
    return;
  }
  panel ??= openPanel(heading);
  panel.reveal();
  const words = {
    heading,
    drawing: vscode.l10n.t("Bar chart: tokens sent on each day. The table below has the same figures."),
    legend: vscode.l10n.t("Bars: tokens that were sent, those from the cache included."),
    caption: vscode.l10n.t("The same as a table"),
  };
  panel.webview.html = usagePage(usage, words, randomUUID());
}

function openPanel(heading: string): vscode.WebviewPanel {
  const opened = vscode.window.createWebviewPanel(VIEW_TYPE, heading, vscode.ViewColumn.Active, {
    enableFindWidget: true,
    enableScripts: false,
    localResourceRoots: [],
  });
  opened.onDidDispose(() => {
    panel = undefined;
  });
  return opened;
}
