/** Opens the server's read-only documents: status, breakdown, summaries and others. */

import * as vscode from "vscode";

const SCHEME = "ullage";

/** Open the status of a session; the server keeps its text up to date. */
export async function showStatus(session: string | null): Promise<void> {
  const query = session === null ? "" : `session=${encodeURIComponent(session)}`;
  await showVirtualDocument(vscode.Uri.from({ scheme: SCHEME, path: "/Context Status", query }));
}

export async function showVirtualDocument(uri: vscode.Uri, options: vscode.TextDocumentShowOptions = {}): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document, { preview: true, ...options });
}
