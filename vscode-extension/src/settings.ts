/** The settings that the client itself reads, in one place. */

import { homedir } from "node:os";
import * as vscode from "vscode";
import { expandPath } from "./model/interpreter";

const INTERPRETER_SETTING = "ullage.interpreter";

/** Return the interpreter that the user chose, or "". In Restricted Mode VS Code leaves out what the workspace says. */
export function interpreterSetting(): string {
  const value = vscode.workspace.getConfiguration().get<unknown>(INTERPRETER_SETTING);
  const workspaceFolder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  return typeof value === "string" ? expandPath(value, homedir(), workspaceFolder) : "";
}

/** Return whether a change of the settings asks for another server process. */
export function changesServer(event: vscode.ConfigurationChangeEvent): boolean {
  return event.affectsConfiguration(INTERPRETER_SETTING);
}

/** Show the setting to the user. In a remote window (SSH, WSL, a container) a machine's setting is on its own page. */
export async function openInterpreterSetting(): Promise<void> {
  const command =
    vscode.env.remoteName === undefined ? "workbench.action.openSettings" : "workbench.action.openRemoteSettings";
  await vscode.commands.executeCommand(command, { query: INTERPRETER_SETTING });
}
