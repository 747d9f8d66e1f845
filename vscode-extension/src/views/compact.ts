/** Tells the user what became of a compaction. */

import * as vscode from "vscode";
import type { CompactResult } from "../protocol";

/** Chosen: long enough to read a line in the status bar. */
const QUIET_MESSAGE_MS = 5_000;

/** Run a compaction and show its outcome. The server asks the user before it writes. */
export async function showCompaction(compact: () => Promise<CompactResult>): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    throw new Error(vscode.l10n.t("Sessions are only compacted in a workspace that you trust."));
  }
  const { outcome, message } = await compact();
  switch (outcome) {
    case "compacted":
    case "nothing":
      void vscode.window.showInformationMessage(message);
      break;
    case "cancelled":
      // Who has just cancelled needs no notification to dismiss.
      vscode.window.setStatusBarMessage(message, QUIET_MESSAGE_MS);
      break;
  }
}
