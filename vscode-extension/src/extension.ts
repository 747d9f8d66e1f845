/** The extension: what there is, and what is connected to what. */

import * as vscode from "vscode";
import { Client } from "./client";
import { createLogger, errorMessage } from "./logger";
import { COMPACT_COMMAND, type Outcome } from "./protocol";
import { changesServer } from "./settings";
import { showOutcome } from "./views/outcome";
import { StatusDocument } from "./views/status";
import { GaugeStatusBarItem } from "./views/statusBar";

let runningClient: Client | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const logger = createLogger();

  /** Run what the user asked for; an error is told to the user. */
  const run = async (action: () => unknown): Promise<void> => {
    try {
      await action();
    } catch (error) {
      logger.error(errorMessage(error));
      void vscode.window.showErrorMessage(errorMessage(error));
    }
  };
  const register = (command: string, action: () => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(command, () => run(action));

  const client: Client = new Client(logger, context.extensionPath, (command, args) =>
    run(async () => {
      const result = await client.executeUntyped(command, args);
      if (command === COMPACT_COMMAND) {
        showOutcome(client, result as Outcome);
      }
    }),
  );
  const gauge = new GaugeStatusBarItem("ullage.showStatus");
  const status = new StatusDocument(client, logger);
  runningClient = client;

  context.subscriptions.push(
    logger,
    client,
    gauge,
    status,
    client.onGauge((params) => {
      gauge.update(params);
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (changesServer(event)) {
        void client.restart();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      void client.restart();
    }),
    register("ullage.showStatus", () => status.show()),
    register("ullage.compactSession", async () => {
      showOutcome(client, await client.execute(COMPACT_COMMAND, { session: null }));
    }),
    register("ullage.restartServer", () => client.restart()),
    register("ullage.showLogs", () => {
      logger.show();
    }),
  );

  // Not awaited: the commands work, and wait for the server, from the start.
  void client.restart();
}

export async function deactivate(): Promise<void> {
  await runningClient?.stop();
}
