/** A compaction before it is made: what goes, and beside it what is proposed, which the user may edit. */

import * as vscode from "vscode";
import type { Client } from "../client";
import {
  APPLY_COMMAND,
  DISCARD_COMMAND,
  PREVIEW_REQUEST,
  REGENERATE_COMMAND,
  type PreviewArgument,
  type PreviewResult,
} from "../protocol";
import type { RequestOptions } from "../serverConnection";
import type { KeptPreviews } from "./keptPreviews";
import { showOutcome } from "./outcome";
import { digestOf, isEdited, isOpen, isSameFile, isWrittenSince, save, showBesideMessages, type KeptPreview } from "./previewFile";
import { withPatience } from "./progress";

/** Each preview is named by what the server calls it or by a file of it; without either, by the active editor or the user. */
export class CompactionPreview {
  constructor(
    private readonly client: Client,
    private readonly kept: KeptPreviews,
  ) {}

  /** Plan a compaction and show it; the server gives back what the user has edited, or keeps it beside the new one. */
  async show(argument: PreviewArgument): Promise<void> {
    for (const kept of this.kept.all.filter(({ session }) => session === argument.session)) {
      if (await this.kept.isThere(kept)) {
        await save(kept);
      }
    }
    await this.propose(vscode.l10n.t("Planning the compaction…"), (options) =>
      this.client.request(PREVIEW_REQUEST, argument, options),
    );
  }

  /** Show a preview again, as the user has left it. */
  async showAgain(): Promise<void> {
    await this.open(await this.kept.current());
  }

  /** Show what the server asks to be shown, by the path of its file; return whether it is a preview. */
  async showFile(filePath: string): Promise<boolean> {
    const preview = this.kept.at(filePath);
    if (preview === undefined) {
      return false;
    }
    await this.open(preview);
    return true;
  }

  /** Make the compaction with the text as it stands in the editor. */
  async apply(meant?: string | vscode.Uri): Promise<void> {
    const current = await this.kept.current(meant);
    await save(current);
    const outcome = await withPatience(vscode.l10n.t("Compacting the session…"), (options) =>
      this.client.execute(APPLY_COMMAND, { preview: current.preview }, options),
    );
    if (outcome === undefined) {
      return;
    }
    if (outcome.outcome === "done") {
      await this.kept.forget(current);
    }
    showOutcome(this.client, outcome);
  }

  /** Have another text proposed, with what the user says is important. */
  async regenerate(meant?: string | vscode.Uri): Promise<void> {
    const current = await this.kept.current(meant);
    if (!isOpen(current) && (await isEdited(current))) {
      // No editor is open in which to undo it.
      const regenerate = vscode.l10n.t("Regenerate");
      const question = vscode.l10n.t("Have another summary proposed in place of the one that you have edited?");
      if ((await vscode.window.showWarningMessage(question, { modal: true }, regenerate)) !== regenerate) {
        return;
      }
    }
    const focus = await vscode.window.showInputBox({
      title: vscode.l10n.t("Regenerate with Focus"),
      prompt: vscode.l10n.t("What should the summary keep above all? Nothing is an answer too."),
      placeHolder: vscode.l10n.t("The decisions about the retry policy"),
      ignoreFocusOut: true,
    });
    if (focus === undefined) {
      return;
    }
    // The file is written anew: an editor with changes of its own would not show it. Undo brings them back there.
    await save(current);
    await this.propose(vscode.l10n.t("Summarizing again…"), (options) =>
      this.client.execute(REGENERATE_COMMAND, { preview: current.preview, focus: focus.trim() || null }, options),
    );
  }

  /** Remove the preview; the server keeps what the user has edited. The session stays as it is. */
  async discard(meant?: string | vscode.Uri): Promise<void> {
    const current = await this.kept.current(meant);
    // An editor without unsaved changes closes without a question.
    await save(current);
    const outcome = await this.client.execute(DISCARD_COMMAND, { preview: current.preview });
    await this.kept.forget(current);
    showOutcome(this.client, outcome);
  }

  /** Have the server propose a text, and show it; it may be the one that the user has edited before. */
  private async propose(action: string, task: (options: RequestOptions) => Promise<PreviewResult>): Promise<void> {
    const asked_ms = Date.now();
    const before = await Promise.all(this.kept.all.map(async (kept) => ({ kept, digest: await digestOf(kept.proposedPath) })));
    const result = await withPatience(action, task);
    if (result === undefined) {
      return;
    }
    if (result.message !== "") {
      void vscode.window.showInformationMessage(result.message);
    }
    if (result.preview === null) {
      return;
    }
    const { preview, session, title, beforePath, proposedPath } = result.preview;
    const known = before.find(({ kept }) => isSameFile(kept.proposedPath, proposedPath));
    const now = await digestOf(proposedPath);
    const isGivenBack = known === undefined ? !(await isWrittenSince(proposedPath, asked_ms)) : known.digest === now;
    const digest = isGivenBack ? (known?.kept.digest ?? null) : now;
    await this.open({ preview, session: session.path, title, beforePath, proposedPath, digest });
  }

  private async open(preview: KeptPreview): Promise<void> {
    await this.kept.remember(preview);
    await showBesideMessages(preview);
  }
}
