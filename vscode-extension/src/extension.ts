/** The extension: what there is, and what is connected to what. */

import * as vscode from "vscode";
import { Client } from "./client";
import { registerCommands, type Run } from "./commands";
import { createLogger, errorMessage } from "./logger";
import { changesServer } from "./settings";
import { HealthStatus } from "./views/health";
import { KeptPreviews } from "./views/keptPreviews";
import { PlotPanel } from "./views/plot";
import { CompactionPreview } from "./views/preview";
import { runServerCommand } from "./views/serverCommands";
import { ShownSession } from "./views/shownSession";
import { GaugeStatusBarItem } from "./views/statusBar";
import { Trees } from "./views/trees";

let runningClient: Client | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const logger = createLogger();

  const run: Run = async (action) => {
    try {
      await action();
    } catch (error) {
      logger.error(errorMessage(error));
      void vscode.window.showErrorMessage(errorMessage(error));
    }
  };

  const client: Client = new Client(
    logger,
    context.extensionPath,
    (command, args) => run(() => runServerCommand(client, preview, command, args)),
    async (uri) => uri.scheme === "file" && preview.showFile(uri.fsPath),
  );
  const shown = new ShownSession(client);
  const trees = new Trees(client, shown, logger);
  const kept = new KeptPreviews(context.workspaceState);
  const preview: CompactionPreview = new CompactionPreview(client, kept);
  const plot = new PlotPanel(client, logger);
  const { version } = context.extension.packageJSON as { version: string };
  runningClient = client;

  context.subscriptions.push(
    logger,
    client,
    shown,
    trees,
    kept,
    plot,
    new GaugeStatusBarItem(client),
    new HealthStatus(client),
    registerCommands({ client, shown, trees, preview, plot, logger, version }, run),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (changesServer(event)) {
        void client.restart();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      void client.restart();
    }),
  );

  // Not awaited: the commands work, and wait for the server, from the start.
  void client.restart();
}

export async function deactivate(): Promise<void> {
  await runningClient?.stop();
}
