/** The extension's output channel, "Ullage": the client's log and the server's. */

import * as vscode from "vscode";

export type Logger = vscode.LogOutputChannel;

export function createLogger(): Logger {
  return vscode.window.createOutputChannel("Ullage", { log: true });
}

/** Return what an exception has to say. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
