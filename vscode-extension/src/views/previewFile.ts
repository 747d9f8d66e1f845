/** The file of a proposed compaction, and the editors that show it. */

import { createHash } from "node:crypto";
import path from "node:path";
import * as vscode from "vscode";

/** A preview that was shown, and neither applied nor discarded. */
export interface KeptPreview {
  readonly preview: string;
  /** Path of the transcript; null where only the file is known. */
  readonly session: string | null;
  readonly beforePath: string;
  readonly proposedPath: string;
  readonly title: string;
  /** Of the text as it was proposed: another digest is the user's work. */
  readonly digest: string;
}

/** Return the preview whose file that is, by the place of it: another window, or the server alone, may have made it. */
export async function previewAt(proposedPath: string): Promise<KeptPreview | undefined> {
  const folder = path.dirname(proposedPath);
  if (path.basename(proposedPath) !== "proposed.md" || path.basename(path.dirname(folder)) !== "previews") {
    return undefined;
  }
  return {
    preview: path.basename(folder),
    session: null,
    beforePath: path.join(folder, "before.md"),
    proposedPath,
    title: vscode.l10n.t("Compaction Preview"),
    digest: await digestOf(proposedPath),
  };
}

export async function digestOf(filePath: string): Promise<string> {
  return createHash("sha256").update(await vscode.workspace.fs.readFile(vscode.Uri.file(filePath))).digest("hex");
}

export async function isEdited({ proposedPath, digest }: KeptPreview): Promise<boolean> {
  return openDocument(proposedPath)?.isDirty === true || (await digestOf(proposedPath)) !== digest;
}

export async function exists({ proposedPath }: KeptPreview): Promise<boolean> {
  return vscode.workspace.fs.stat(vscode.Uri.file(proposedPath)).then(
    () => true,
    () => false,
  );
}

/** The server reads the file: what the user has written must be in it. */
export async function save({ proposedPath }: KeptPreview): Promise<void> {
  const document = openDocument(proposedPath);
  if (document?.isDirty === true && !(await document.save())) {
    throw new Error(vscode.l10n.t("The edited summary could not be saved."));
  }
}

export async function closeEditors({ proposedPath }: KeptPreview): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  await vscode.window.tabGroups.close(tabs.filter((tab) => isTabOf(tab, proposedPath)));
}

export function isTabOf(tab: vscode.Tab, proposedPath: string): boolean {
  const tabPath = pathOf(tab);
  return tabPath !== undefined && isSameFile(tabPath, proposedPath);
}

/** Return the path of the file that a tab lets the user edit. */
export function pathOf({ input }: vscode.Tab): string | undefined {
  if (input instanceof vscode.TabInputTextDiff) {
    return input.modified.fsPath;
  }
  return input instanceof vscode.TabInputText ? input.uri.fsPath : undefined;
}

/** A URI has its own way to write a drive letter. */
export function isSameFile(one: string, other: string): boolean {
  return vscode.Uri.file(one).fsPath === vscode.Uri.file(other).fsPath;
}

function openDocument(filePath: string): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === "file" && isSameFile(uri.fsPath, filePath));
}
