/** The plot of the window over time, in a panel of its own beside the editor. */

import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import * as vscode from "vscode";
import type { Client } from "../client";
import { errorMessage, type Logger } from "../logger";
import { plotPage, type PlotWords } from "../model/plotPage";
import { HISTORY_REQUEST, type HistoryResult } from "../protocol";
import { withPatience } from "./progress";
import { showSession } from "./virtualDocument";

const VIEW_TYPE = "ullage.plot";
/** The one command that a link of the page can run: it opens a message of the session. Nobody calls it by name. */
const OPEN_COMMAND = "ullage.openPlottedMessage";

export class PlotPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  /** The path of the session that is shown; null is the one that the gauge shows. */
  private session: string | null = null;
  /** What the panel shows; to draw the same again would take away the focus. */
  private drawn: HistoryResult | undefined;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly client: Client,
    private readonly logger: Logger,
  ) {
    this.subscription = vscode.Disposable.from(
      vscode.commands.registerCommand(OPEN_COMMAND, (session: string, entry: string) =>
        showSession(client, session, "Context.md", entry),
      ),
      client.onChanged(({ what }) => {
        if (what.includes("sessions") && this.panel?.visible === true) {
          void this.refresh();
        }
      }),
    );
  }

  /** Show the plot of a session, or of the one that the gauge shows. */
  async show(session: string | null): Promise<void> {
    const history = await withPatience(vscode.l10n.t("Context Window over Time"), (options) =>
      this.client.request(HISTORY_REQUEST, { session }, options),
    );
    if (history === undefined) {
      return;
    }
    this.session = session;
    this.panel ??= this.createPanel();
    this.draw(this.panel, history);
    this.panel.reveal();
  }

  dispose(): void {
    this.subscription.dispose();
    this.panel?.dispose();
  }

  private createPanel(): vscode.WebviewPanel {
    const panel = vscode.window.createWebviewPanel(VIEW_TYPE, vscode.l10n.t("Context Window"), vscode.ViewColumn.Active, {
      enableCommandUris: [OPEN_COMMAND],
      enableFindWidget: true,
      enableScripts: false,
      localResourceRoots: [],
    });
    panel.onDidChangeViewState(() => {
      if (panel.visible) {
        void this.refresh();
      }
    });
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.drawn = undefined;
    });
    return panel;
  }

  private async refresh(): Promise<void> {
    const session = this.session;
    try {
      const history = await this.client.request(HISTORY_REQUEST, { session });
      if (this.panel !== undefined && this.session === session) {
        this.draw(this.panel, history);
      }
    } catch (error) {
      // Nobody asked: the plot stays as it was, and the log says why.
      this.logger.warn(`The open plot was not refreshed: ${errorMessage(error)}`);
    }
  }

  private draw(panel: vscode.WebviewPanel, history: HistoryResult): void {
    if (isDeepStrictEqual(history, this.drawn)) {
      return;
    }
    this.drawn = history;
    const path = history.session?.path;
    panel.webview.html = plotPage(history, plotWords(), {
      nonce: randomUUID(),
      linkTo: (entry) => (path === undefined ? null : linkTo(path, entry)),
    });
  }
}

function linkTo(path: string, entry: string): string {
  return `command:${OPEN_COMMAND}?${encodeURIComponent(JSON.stringify([path, entry]))}`;
}

/** A time that cannot be read is shown as it is. */
function formatted(at: string, format: Intl.DateTimeFormat): string {
  const time_ms = Date.parse(at);
  return Number.isNaN(time_ms) ? at : format.format(time_ms);
}

function plotWords(): PlotWords {
  // As the server writes numbers, and without a date that is read in two ways.
  const times = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });
  const dates = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" });
  const clocks = new Intl.DateTimeFormat("en", { timeStyle: "short", hourCycle: "h23" });
  return {
    heading: vscode.l10n.t("Context Window over Time"),
    nothing: vscode.l10n.t("The model has not answered in this session yet."),
    drawing: vscode.l10n.t("Line chart: tokens in the context after each answer. The table below has the same figures."),
    window: vscode.l10n.t("Window"),
    axis: vscode.l10n.t("Answers of the model, oldest first"),
    legend: vscode.l10n.t(
      "Solid line: as the provider reported. Dashed line and hollow points: estimated. Numbered falls: compactions and prunes.",
    ),
    time: vscode.l10n.t("Time"),
    tokens: vscode.l10n.t("Tokens"),
    share: vscode.l10n.t("Share of the Window"),
    happened: vscode.l10n.t("What Happened"),
    estimated: vscode.l10n.t("estimated"),
    unknownTime: vscode.l10n.t("time unknown"),
    dateAndTime: (at) => formatted(at, times),
    date: (at) => formatted(at, dates),
    clock: (at) => formatted(at, clocks),
    summary: (nPoints, nTokens, windowTokens, nCompactions) =>
      vscode.l10n.t("Now {0} of {1} tokens. Points: {2}. Compactions and prunes: {3}.", nTokens, windowTokens, nPoints, nCompactions),
    caption: (nShown, nRows) =>
      nShown === nRows
        ? vscode.l10n.t("The same as a table, newest first")
        : vscode.l10n.t("The newest {0} of {1}", nShown, nRows),
    passed: (names) => vscode.l10n.t("passed {0}", names),
    compaction: (title, before, after) => vscode.l10n.t("{0}, {1} → {2} tokens", title, before, after),
  };
}
