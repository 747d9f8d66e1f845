/** Offers to install the server, shows how that goes, and says what to do when it cannot be done. */

import * as vscode from "vscode";
import { install, InstallationError, type InstallationStep, type OwnPlaces } from "../installation";
import { errorMessage, type Logger } from "../logger";
import { findBase, NotInstalledError, noPythonMessage, type Base, type NoServerError } from "../server";
import { chooseInterpreter } from "../settings";

const PYTHON_URL = "https://www.python.org/downloads/";

/** Tell the user why the server did not start, and do what is chosen; `restart` is called when it may start now. */
export async function offerServer(
  error: NoServerError,
  own: OwnPlaces,
  logger: Logger,
  restart: () => Promise<void>,
): Promise<void> {
  const installNow = vscode.l10n.t("Install");
  const getPython = vscode.l10n.t("Get Python");
  const choose = vscode.l10n.t("Choose Interpreter");
  const showLogs = vscode.l10n.t("Show Logs");
  let choice: string | undefined;
  const base = error instanceof NotInstalledError ? error.base : undefined;
  if (base !== undefined) {
    choice = await vscode.window.showInformationMessage(error.message, installNow, choose);
  } else if (error instanceof NotInstalledError) {
    choice = await vscode.window.showErrorMessage(error.message, getPython, choose);
  } else {
    choice = await vscode.window.showErrorMessage(error.message, choose, showLogs);
  }
  if (choice === installNow && base !== undefined) {
    await installWith(base, own, logger, restart);
  } else if (choice === getPython) {
    await vscode.env.openExternal(vscode.Uri.parse(PYTHON_URL));
  } else if (choice === choose) {
    await chooseInterpreter();
  } else if (choice === showLogs) {
    logger.show();
  }
}

/** Install the server because the user asked for it, whether there is one or not. */
export async function installServer(own: OwnPlaces, logger: Logger, restart: () => Promise<void>): Promise<void> {
  const base = await findBase(own, logger);
  if (base === undefined) {
    await offerServer(new NotInstalledError(noPythonMessage(), undefined), own, logger, restart);
  } else {
    await installWith(base, own, logger, restart);
  }
}

async function installWith(base: Base, own: OwnPlaces, logger: Logger, restart: () => Promise<void>): Promise<void> {
  try {
    await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: vscode.l10n.t("Installing the Ullage server"), cancellable: true },
      async (progress, token) => {
        const abort = new AbortController();
        token.onCancellationRequested(() => {
          abort.abort();
        });
        const report = (step: InstallationStep, line: string): void => {
          if (line !== "") {
            logger.info(`[pip] ${line}`);
          }
          progress.report({ message: stepMessage(step, line) });
        };
        await install(own, base.interpreter, { report, signal: abort.signal });
      },
    );
  } catch (error) {
    if (!(error instanceof InstallationError)) {
      throw error;
    }
    await tellProblem(error, base, own, logger, restart);
    return;
  }
  logger.info("The server is installed");
  await restart();
}

function stepMessage(step: InstallationStep, line: string): string {
  if (step === "environment") {
    return vscode.l10n.t("making an environment");
  }
  const library = /^Collecting ([\w.-]+)/.exec(line)?.[1];
  return library === undefined ? vscode.l10n.t("getting its libraries") : vscode.l10n.t("getting {0}", library);
}

async function tellProblem(
  error: InstallationError,
  base: Base,
  own: OwnPlaces,
  logger: Logger,
  restart: () => Promise<void>,
): Promise<void> {
  if (error.problem === "cancelled") {
    logger.info("The installation was cancelled");
    return;
  }
  logger.error(`The server was not installed: ${errorMessage(error)}`);
  const again = vscode.l10n.t("Try Again");
  const showLogs = vscode.l10n.t("Show Logs");
  const choice = await vscode.window.showErrorMessage(problemMessage(error, base), again, showLogs);
  if (choice === again) {
    await installWith(base, own, logger, restart);
  } else if (choice === showLogs) {
    logger.show();
  }
}

function problemMessage(error: InstallationError, base: Base): string {
  switch (error.problem) {
    case "ensurepip":
      return vscode.l10n.t(
        "The Ullage server was not installed: this Python cannot make environments. On Debian and Ubuntu install its package (sudo apt install python{0}-venv), then try again.",
        base.python.split(".").slice(0, 2).join("."),
      );
    case "network":
      return vscode.l10n.t(
        "The Ullage server was not installed: PyPI was not reached. Look at the connection or the proxy, or set an index in pip's configuration, then try again.",
      );
    case "package":
      return vscode.l10n.t(
        "The Ullage server was not installed: this package of the extension does not carry it. Install it with \"pip install ullage\", or install the extension anew.",
      );
    case "environment":
      return vscode.l10n.t("The Ullage server was not installed: Python made no environment. {0}", lastLine(error.details));
    case "install":
    case "cancelled":
      return vscode.l10n.t("The Ullage server was not installed. {0}", lastLine(error.details));
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
