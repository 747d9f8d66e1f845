/** Tells the user what became of a command. */

import * as vscode from "vscode";
import type { Client } from "../client";
import type { Outcome } from "../protocol";

/** Chosen: long enough to read a line in the status bar. */
const QUIET_MESSAGE_MS = 5_000;

export function showOutcome(_client: Client, { outcome, message }: Outcome): void {
  switch (outcome) {
    case "done":
    case "nothing":
      void vscode.window.showInformationMessage(message);
      break;
    case "cancelled":
      // Who has just cancelled needs no notification to dismiss.
      vscode.window.setStatusBarMessage(message, QUIET_MESSAGE_MS);
      break;
  }
}
