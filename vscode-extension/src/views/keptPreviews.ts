/**
 * The previews that were shown, and neither applied nor discarded.
 *
 * To close its editor keeps a preview: it may have been edited, and who closes a tab has not said no.
 */

import * as vscode from "vscode";
import { shownAsText } from "../model/shownText";
import { showQuietly } from "./outcome";
import { closeEditors, exists, isOpen, isSameFile, isTabOf, openDocument, pathOf, previewAt, type KeptPreview } from "./previewFile";
import type { ShownSession } from "./shownSession";

const STATE_KEY = "ullage.previews";

export class KeptPreviews implements vscode.Disposable {
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly memory: vscode.Memento,
    private readonly shown: ShownSession,
  ) {
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
   * Return the preview of that name, or of that file or else of the active editor's; where neither is of one, the user chooses.
   *
   * @throws Error in words for the user, when there is none, and what `isThere` throws
   */
  async current(meant?: string | vscode.Uri): Promise<KeptPreview> {
    const { activeTab } = vscode.window.tabGroups.activeTabGroup;
    const filePath = meant instanceof vscode.Uri ? meant.fsPath : activeTab && pathOf(activeTab);
    const ofFile = filePath === undefined ? undefined : this.at(filePath);
    const found = typeof meant === "string" ? [...this.all, ofFile].find((kept) => kept?.preview === meant) : (ofFile ?? (await this.choose()));
    if (found === undefined) {
      throw new Error(vscode.l10n.t("There is no preview. Make one with \"Context: Compact Session…\"."));
    }
    if (await this.isThere(found)) {
      return found;
    }
    throw new Error(vscode.l10n.t("The preview of {0} is gone. Make a new one with \"Context: Compact Session…\".", titleOf(found)));
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

  /** Return the preview that a file is the proposal of, or the messages beside it. */
  at(filePath: string): KeptPreview | undefined {
    return this.all.find(({ proposedPath, beforePath }) => [proposedPath, beforePath].some((path) => isSameFile(path, filePath))) ?? previewAt(filePath);
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

  /**
   * Let the user choose one, but where the only one is of the session that the gauge shows; undefined where there is none.
   *
   * @throws CancellationError when that is given up
   */
  private async choose(): Promise<KeptPreview | undefined> {
    const areThere = await Promise.all(this.all.map(exists));
    const entries = this.all.filter((_, at) => areThere[at]).map((kept) => ({ kept, label: shownAsText(titleOf(kept)) }));
    const [first] = entries;
    if (first === undefined || (entries.length === 1 && first.kept.session === this.shown.session?.path)) {
      return first?.kept;
    }
    const choice = await vscode.window.showQuickPick(entries, { title: vscode.l10n.t("Choose Compaction Preview") });
    if (choice === undefined) {
      throw new vscode.CancellationError();
    }
    return choice.kept;
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

function titleOf({ title, proposedPath }: KeptPreview): string {
  return title ?? proposedPath;
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
