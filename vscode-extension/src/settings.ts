/** The settings that the client itself reads, in one place. */

import { homedir } from "node:os";
import * as vscode from "vscode";
import { interpreterPath } from "./model/interpreter";
import { SERVER_SETTINGS, setValue } from "./model/settings";
import { NoServerError } from "./server";

export const INTERPRETER_SETTING = "ullage.interpreter";

/**
 * Return the interpreter that the user chose, or "". In Restricted Mode VS Code leaves out what the workspace says.
 *
 * @throws NoServerError where the setting names a file of the workspace and that may not be run
 */
export function interpreterSetting(): string {
  const value = vscode.workspace.getConfiguration().get<unknown>(INTERPRETER_SETTING);
  const setting = typeof value === "string" ? value : "";
  const folder = vscode.workspace.isTrusted ? vscode.workspace.workspaceFolders?.[0]?.uri.fsPath : undefined;
  const path = interpreterPath(setting, homedir(), folder);
  if (path === undefined) {
    throw new NoServerError(
      vscode.l10n.t(
        "The setting ullage.interpreter names a file of the workspace ({0}), which is only run in a folder that you trust. Trust the workspace, or set an absolute path.",
        setting,
      ),
      setting,
    );
  }
  return path;
}

/**
 * Return what the server is told at its start. What stands below `ullage` is replaced by what `configure` sends later.
 *
 * `showsOutcomes` says that this client tells its user what became of a command, so that the server need not.
 * `isTrusted` lets the server listen to the workspace's own `.ullage.yaml` in more than thresholds.
 */
export function serverOptions(): Record<string, unknown> {
  return { ullage: serverSettings(), isTrusted: vscode.workspace.isTrusted, showsOutcomes: true };
}

/** Return what is set of the server's settings: by the user, and by the workspace where it is trusted. */
export function serverSettings(): Record<string, unknown> {
  const settings = vscode.workspace.getConfiguration("ullage");
  const found: Record<string, unknown> = {};
  for (const name of SERVER_SETTINGS) {
    const value = setValue(settings.inspect(name), vscode.workspace.isTrusted);
    if (value !== undefined && value !== null) {
      found[name] = value;
    }
  }
  return found;
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
