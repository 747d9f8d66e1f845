/** Shows, beside a proposal, the message that the line with the cursor comes from. */

import * as vscode from "vscode";
import { errorMessage, type Logger } from "../logger";
import type { KeptPreviews } from "./keptPreviews";
import { isSameFile } from "./previewFile";

export function followSources(kept: KeptPreviews, logger: Logger): vscode.Disposable {
  let shown = "";
  return vscode.window.onDidChangeTextEditorSelection(({ textEditor: { document, selection } }) => {
    const preview = kept.at(document.uri.fsPath);
    const line = `${document.uri.toString()} ${selection.active.line.toString()}`;
    if (preview === undefined || !isSameFile(document.uri.fsPath, preview.proposedPath) || line === shown) {
      return;
    }
    shown = line;
    const messages = vscode.window.visibleTextEditors.find(({ document: { uri } }) => isSameFile(uri.fsPath, preview.beforePath));
    if (messages !== undefined) {
      showSource(document.uri, selection.active, messages, () => line === shown).catch((error: unknown) => {
        // Nobody asked: the messages stay where they are, and the log says why.
        logger.warn(`The source of a line was not found: ${errorMessage(error)}`);
      });
    }
  });
}

async function showSource(proposal: vscode.Uri, position: vscode.Position, messages: vscode.TextEditor, isNewest: () => boolean): Promise<void> {
  const found = await vscode.commands.executeCommand<readonly (vscode.Location | vscode.LocationLink)[] | undefined>(
    "vscode.executeDefinitionProvider",
    proposal,
    position,
  );
  const ranges = (found ?? []).map((link) => ("uri" in link ? { uri: link.uri, range: link.range } : { uri: link.targetUri, range: link.targetRange }));
  const range = ranges.find(({ uri }) => isSameFile(uri.fsPath, messages.document.uri.fsPath))?.range;
  if (range !== undefined && isNewest()) {
    messages.selection = new vscode.Selection(range.start, range.start);
    messages.revealRange(range, vscode.TextEditorRevealType.AtTop);
  }
}
