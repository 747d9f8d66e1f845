/** The status of the session as a read-only document: monospace, searchable, kept up to date while it is open. */

import * as vscode from "vscode";
import type { Client } from "../client";
import { errorMessage, type Logger } from "../logger";
import { STATUS_REQUEST } from "../protocol";

const SCHEME = "ullage-status";
/** Its path is the title of the tab, and by the manifest a language that editors show without numbers and guides. */
const URI = vscode.Uri.from({ scheme: SCHEME, path: "Context Status" });

export class StatusDocument implements vscode.TextDocumentContentProvider {
  private readonly changeEmitter = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changeEmitter.event;
  private text = "";
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly client: Client,
    private readonly logger: Logger,
  ) {
    this.subscription = vscode.Disposable.from(
      this.changeEmitter,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      client.onGauge((params) => {
        if (params?.session && this.isOpen()) {
          void this.refresh();
        }
      }),
    );
  }

  provideTextDocumentContent(): string {
    return this.text;
  }

  /** Open the status, or bring it to the front, as it is now. */
  async show(): Promise<void> {
    await this.load();
    const document = await vscode.workspace.openTextDocument(URI);
    await vscode.window.showTextDocument(document, { preview: true });
  }

  dispose(): void {
    this.subscription.dispose();
  }

  private async load(): Promise<void> {
    const { text } = await this.client.request(STATUS_REQUEST, { session: null });
    this.text = text;
    this.changeEmitter.fire(URI);
  }

  private async refresh(): Promise<void> {
    try {
      await this.load();
    } catch (error) {
      // Nobody asked: the text stays as it was, and the log says why.
      this.logger.warn(`The open status was not refreshed: ${errorMessage(error)}`);
    }
  }

  private isOpen(): boolean {
    return vscode.workspace.textDocuments.some((document) => document.uri.toString() === URI.toString());
  }
}
