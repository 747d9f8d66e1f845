/** Opens the server's read-only documents: status, breakdown, summaries and others. */

import * as vscode from "vscode";
import type { Client } from "../client";
import { STATUS_REQUEST } from "../protocol";

const SCHEME = "ullage";

/** Open the status of a session, which the server keeps up to date, or its messages as readable chat, or one of them. */
export async function showSession(
  client: Client,
  session: string | null,
  name: "Context Status" | "Context.md",
  entry: string | null = null,
): Promise<void> {
  // Starts the server, and says in its own words what the editor would wrap in others.
  await client.request(STATUS_REQUEST, { session });
  const named = Object.entries({ session, entry }).filter(([, value]) => value !== null);
  const query = named.map(([field, value]) => `${field}=${encodeURIComponent(value ?? "")}`).join("&");
  await showVirtualDocument(vscode.Uri.from({ scheme: SCHEME, path: `/${name}`, query }));
}

export async function showVirtualDocument(uri: vscode.Uri, options: vscode.TextDocumentShowOptions = {}): Promise<void> {
  // The whole of a large session takes seconds, and an extension cannot end what the editor asks for.
  const title = vscode.l10n.t("Opening {0}…", uri.path.slice(1));
  const document = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, () =>
    vscode.workspace.openTextDocument(uri),
  );
  await vscode.window.showTextDocument(document, { preview: true, ...options });
}
