/** The settings that the client itself reads, in one place. */

import { homedir } from "node:os";
import * as vscode from "vscode";
import { expandPath } from "./model/interpreter";
import { SERVER_SETTINGS } from "./model/settings";

export const INTERPRETER_SETTING = "ullage.interpreter";

/** Return the interpreter that the user chose, or "". In Restricted Mode VS Code leaves out what the workspace says. */
export function interpreterSetting(): string {
  const value = vscode.workspace.getConfiguration().get<unknown>(INTERPRETER_SETTING);
  const workspaceFolder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  return typeof value === "string" ? expandPath(value, homedir(), workspaceFolder) : "";
}

/**
 * Return what the server is told at its start: the user's settings, and those of the workspace where it is trusted.
 *
 * `showsOutcomes` says that this client tells its user what became of a command, so that the server need not.
 * `isTrusted` lets the server listen to the workspace's own `.ullage.yaml` in more than thresholds.
 */
export function serverOptions(): Record<string, unknown> {
  const isTrusted = vscode.workspace.isTrusted;
  const settings = vscode.workspace.getConfiguration("ullage");
  const options: Record<string, unknown> = { isTrusted, showsOutcomes: true };
  for (const name of SERVER_SETTINGS) {
    const said = settings.inspect(name);
    const value = (isTrusted ? (said?.workspaceFolderValue ?? said?.workspaceValue) : undefined) ?? said?.globalValue;
    if (value !== undefined && value !== null) {
      options[name] = value;
    }
  }
  return options;
}

/** Return whether a change of the settings asks for another server process. */
export function changesServer(event: vscode.ConfigurationChangeEvent): boolean {
  return [INTERPRETER_SETTING, ...SERVER_SETTINGS.map((name) => `ullage.${name}`)].some((name) =>
    event.affectsConfiguration(name),
  );
}

/** Let the user choose the interpreter's file; what is chosen becomes the setting, and the server starts with it. */
export async function chooseInterpreter(): Promise<void> {
  const [file] =
    (await vscode.window.showOpenDialog({
      title: vscode.l10n.t("Choose the Python that has the package ullage"),
      openLabel: vscode.l10n.t("Choose Interpreter"),
    })) ?? [];
  if (file !== undefined) {
    await vscode.workspace
      .getConfiguration()
      .update(INTERPRETER_SETTING, file.fsPath, vscode.ConfigurationTarget.Global);
  }
}

/** Show the setting to the user. In a remote window (SSH, WSL, a container) a machine's setting is on its own page. */
export async function openInterpreterSetting(): Promise<void> {
  const command =
    vscode.env.remoteName === undefined ? "workbench.action.openSettings" : "workbench.action.openRemoteSettings";
  await vscode.commands.executeCommand(command, { query: INTERPRETER_SETTING });
}
