/** The extension: what there is, and what is connected to what. */

import * as vscode from "vscode";
import { Client } from "./client";
import { registerCommands, type Run } from "./commands";
import type { OwnPlaces } from "./environments";
import { createLogger, errorMessage } from "./logger";
import { whenAgentsArePresent } from "./presence";
import { INTERPRETER_SETTING } from "./settings";
import { HealthStatus } from "./views/health";
import { ServerInstallation } from "./views/installation";
import { InstallationItem } from "./views/installationItem";
import { KeptPreviews } from "./views/keptPreviews";
import { followSources } from "./views/previewSource";
import { copyText, resumeInTerminal } from "./views/outcome";
import { PlotPanel } from "./views/plot";
import { CompactionPreview } from "./views/preview";
import { runServerCommand } from "./views/serverCommands";
import { ShownSession } from "./views/shownSession";
import { GaugeStatusBarItem } from "./views/statusBar";
import { showTerminal } from "./views/terminal";
import { Trees } from "./views/trees";

let runningClient: Client | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const logger = createLogger();

  const run: Run = async (action) => {
    try {
      await action();
    } catch (error) {
      if (error instanceof vscode.CancellationError) {
        // The user knows already.
        return;
      }
      logger.error(errorMessage(error));
      void vscode.window.showErrorMessage(errorMessage(error));
    }
  };

  const { version } = context.extension.packageJSON as { version: string };
  const own: OwnPlaces = {
    extensionFolder: context.extensionPath,
    storageFolder: context.globalStorageUri.fsPath,
    version,
  };
  const client: Client = new Client(logger, own, {
    runServerCommand: (command, args) => run(() => runServerCommand({ client, preview, shown }, command, args)),
    copyText: (text) => run(() => copyText(text)),
    resume: resumeInTerminal,
    showTerminal: (params) => run(() => showTerminal(params)),
    showDocument: async (uri) => uri.scheme === "file" && preview.showFile(uri.fsPath),
    offerServer: (error, isAskedFor) => run(() => installation.offer(error, isAskedFor)),
  });
  const installation: ServerInstallation = new ServerInstallation(client, own, logger, context.globalState);
  const shown: ShownSession = new ShownSession(client, (error) => {
    logger.error(errorMessage(error));
  });
  const trees = new Trees(client, shown, logger);
  const kept = new KeptPreviews(context.workspaceState, shown);
  const preview: CompactionPreview = new CompactionPreview(client, kept);
  const plot = new PlotPanel(client, logger);
  runningClient = client;

  context.subscriptions.push(
    logger,
    client,
    shown,
    trees,
    kept,
    followSources(kept, logger),
    plot,
    installation,
    new InstallationItem(client, installation),
    new GaugeStatusBarItem(client),
    new HealthStatus(client),
    registerCommands({ client, installation, shown, trees, preview, plot, logger, own }, run),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (client.isWanted && event.affectsConfiguration(INTERPRETER_SETTING)) {
        void client.restart();
      } else if (event.affectsConfiguration("ullage")) {
        void client.configure();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      if (client.isWanted) {
        void client.restart();
      }
    }),
    // Not awaited: the commands work, and wait for the server, from the start.
    whenAgentsArePresent(() => void client.start()),
  );
}

export async function deactivate(): Promise<void> {
  await runningClient?.stop();
}
