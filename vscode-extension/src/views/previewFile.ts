/** The file of a proposed compaction, and the editors that show it. */

import { createHash } from "node:crypto";
import { homedir } from "node:os";
import path from "node:path";
import * as vscode from "vscode";
import { previewName, stateFolder } from "../model/previewPath";

/** A preview that was shown, and neither applied nor discarded. */
export interface KeptPreview {
  readonly preview: string;
  /** Path of the transcript; null where only the file is known. */
  readonly session: string | null;
  /** Names its session, and says what is saved; null where only the file is known. */
  readonly title: string | null;
  readonly beforePath: string;
  readonly proposedPath: string;
  /** Of the text as it was proposed: another digest is the user's work. Null where nobody knows it: so may be any text. */
  readonly digest: string | null;
}

/** Return the preview whose file that is, by the place of it: another window, or the server alone, may have made it. */
export function previewAt(filePath: string): KeptPreview | undefined {
  const preview = previewName(filePath, stateFolder(process.env, process.platform, homedir()), isSameFile);
  if (preview === undefined) {
    return undefined;
  }
  const folder = path.dirname(filePath);
  const [beforePath, proposedPath] = [path.join(folder, "before.md"), path.join(folder, "proposed.md")];
  return { preview, session: null, title: null, beforePath, proposedPath, digest: null };
}

/** Return the digest of a file; null where it cannot be read. */
export async function digestOf(filePath: string): Promise<string | null> {
  return vscode.workspace.fs.readFile(vscode.Uri.file(filePath)).then(
    (data) => createHash("sha256").update(data).digest("hex"),
    () => null,
  );
}

export async function isEdited({ proposedPath, digest }: KeptPreview): Promise<boolean> {
  return openDocument(proposedPath)?.isDirty === true || digest === null || (await digestOf(proposedPath)) !== digest;
}

/** Return whether the file was written since a time; some file systems count in steps of two seconds. */
export async function isWrittenSince(filePath: string, since_ms: number): Promise<boolean> {
  return (await vscode.workspace.fs.stat(vscode.Uri.file(filePath))).mtime > since_ms - 2_000;
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

export function isOpen({ proposedPath }: KeptPreview): boolean {
  return allTabs().some((tab) => isTabOf(tab, proposedPath));
}

export async function closeEditors({ beforePath, proposedPath }: KeptPreview): Promise<void> {
  await vscode.window.tabGroups.close(allTabs().filter((tab) => isTabOf(tab, proposedPath) || isTabOf(tab, beforePath)));
}

/** Show the proposal, and left of it the messages that it stands for: they have no line in common, so a diff would only be red and green. */
export async function showBesideMessages({ beforePath, proposedPath }: KeptPreview): Promise<void> {
  const column = allTabs().find((tab) => isTabOf(tab, proposedPath))?.group.viewColumn;
  if (column === undefined) {
    await vscode.window.showTextDocument(vscode.Uri.file(beforePath), { preserveFocus: true, preview: false });
  }
  const viewColumn = column ?? vscode.ViewColumn.Beside;
  await vscode.window.showTextDocument(vscode.Uri.file(proposedPath), { viewColumn, preview: false });
}

function allTabs(): vscode.Tab[] {
  return vscode.window.tabGroups.all.flatMap((group) => group.tabs);
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

/** Return the document of a file that an editor holds, whether the file is still there or not. */
export function openDocument(filePath: string): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === "file" && isSameFile(uri.fsPath, filePath));
}
