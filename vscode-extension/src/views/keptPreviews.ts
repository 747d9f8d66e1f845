/**
 * The previews that were shown, and neither applied nor discarded.
 *
 * To close its editor keeps a preview: it may have been edited, and who closes a tab has not said no.
 */

import * as vscode from "vscode";
import { showQuietly } from "./outcome";
import { closeEditors, exists, isOpen, isSameFile, isTabOf, openDocument, pathOf, previewAt, type KeptPreview } from "./previewFile";

const STATE_KEY = "ullage.previews";

export class KeptPreviews implements vscode.Disposable {
  private readonly subscription: vscode.Disposable;

  constructor(private readonly memory: vscode.Memento) {
    this.subscription = vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      const left = this.all.filter((kept) => closed.some((tab) => isTabOf(tab, kept.proposedPath)) && !isOpen(kept));
      if (left.length > 0) {
        showQuietly(vscode.l10n.t("The preview is kept: \"Context: Show Compaction Preview\" opens it again."));
        void Promise.all(left.map(closeEditors));
      }
    });
    this.setContextKeys();
  }

  /** The one that was shown last comes last. */
  get all(): readonly KeptPreview[] {
    return this.memory.get<readonly KeptPreview[]>(STATE_KEY, []);
  }

  /**
   * Return the preview of that name, else the one in the active editor, else the last one.
   *
   * @throws Error in words for the user, when there is none, and what `isThere` throws
   */
  async current(name?: string): Promise<KeptPreview> {
    const { activeTab } = vscode.window.tabGroups.activeTabGroup;
    const activePath = activeTab && pathOf(activeTab);
    const active = activePath === undefined ? undefined : this.at(activePath);
    const found =
      name === undefined ? (active ?? this.all.at(-1)) : [...this.all, active].find((kept) => kept?.preview === name);
    if (found === undefined) {
      throw new Error(vscode.l10n.t("There is no preview. Make one with \"Context: Compact Session…\"."));
    }
    if (await this.isThere(found)) {
      return found;
    }
    throw new Error(vscode.l10n.t("The preview is gone. Make a new one with \"Context: Compact Session…\"."));
  }

  /**
   * Return whether the file of a preview is there; what is gone is known no more.
   *
   * @throws CancellationError when an editor holds the only copy of the text: the user is told, and nothing takes it away
   */
  async isThere(preview: KeptPreview): Promise<boolean> {
    if (await exists(preview)) {
      return true;
    }
    const document = openDocument(preview.proposedPath);
    if (document === undefined) {
      await this.keep(this.others(preview));
      return false;
    }
    await vscode.window.showTextDocument(document, { preview: false });
    void offerToSave(document);
    throw new vscode.CancellationError();
  }

  /** Return the preview whose file that is. */
  at(filePath: string): KeptPreview | undefined {
    return this.all.find(({ proposedPath }) => isSameFile(proposedPath, filePath)) ?? previewAt(filePath);
  }

  async remember(preview: KeptPreview): Promise<void> {
    await this.keep([...this.others(preview), preview]);
  }

  /** Know a preview no more, and close its editors. */
  async forget(preview: KeptPreview): Promise<void> {
    await this.keep(this.others(preview));
    await closeEditors(preview);
  }

  dispose(): void {
    this.subscription.dispose();
  }

  private others({ proposedPath }: KeptPreview): readonly KeptPreview[] {
    return this.all.filter((preview) => !isSameFile(preview.proposedPath, proposedPath));
  }

  private async keep(previews: readonly KeptPreview[]): Promise<void> {
    await this.memory.update(STATE_KEY, previews);
    this.setContextKeys();
  }

  private setContextKeys(): void {
    // `resourcePath` is the path of the URI in a remote window, and the path of the file system in a local one.
    const paths = this.all.flatMap(({ proposedPath }) => {
      const uri = vscode.Uri.file(proposedPath);
      return [uri.path, uri.fsPath];
    });
    void vscode.commands.executeCommand("setContext", "ullage.previews", paths);
    void vscode.commands.executeCommand("setContext", "ullage.hasPreview", paths.length > 0);
  }
}

async function offerToSave(document: vscode.TextDocument): Promise<void> {
  const saveAs = vscode.l10n.t("Save As…");
  const message = vscode.l10n.t(
    "The file of this preview was removed: its text is only in this editor now. Save it elsewhere, close the editor, and make a new preview.",
  );
  if ((await vscode.window.showErrorMessage(message, saveAs)) === saveAs) {
    // The command is about the active editor, which may be another by now.
    await vscode.window.showTextDocument(document, { preview: false });
    await vscode.commands.executeCommand("workbench.action.files.saveAs");
  }
}
