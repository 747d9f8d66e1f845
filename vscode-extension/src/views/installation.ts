/** Offers to install the server, shows how that goes, and says what to do when it cannot be done. */

import * as vscode from "vscode";
import type { OwnPlaces } from "../environments";
import { install, InstallationError, type InstallationStep } from "../installation";
import { errorMessage, type Logger } from "../logger";
import { findBase, NotInstalledError, noPythonMessage, type Base, type NoServerError } from "../server";
import { chooseInterpreter } from "../settings";
import { showQuietly } from "./outcome";

const PYTHON_URL = "https://www.python.org/downloads/";
const SILENCE_KEY = "ullage.offersNoInstallation";

export class ServerInstallation {
  constructor(
    private readonly own: OwnPlaces,
    private readonly logger: Logger,
    /** Shared by all windows of this machine. */
    private readonly memory: vscode.Memento,
    private readonly restart: () => Promise<void>,
  ) {}

  /** Tell the user why the server did not start, and do what is chosen; who wants no offer is told when asking. */
  async offer(error: NoServerError, isAskedFor: boolean): Promise<void> {
    if (!(error instanceof NotInstalledError)) {
      await this.offerOtherInterpreter(error);
    } else if (isAskedFor || !this.memory.get<boolean>(SILENCE_KEY, false)) {
      await this.offerInstallation(error);
    }
  }

  /** Install the server because the user asked for it, whether there is one or not. */
  async install(): Promise<void> {
    const base = await findBase(this.own, this.logger);
    if (base === undefined) {
      await this.offerInstallation(new NotInstalledError(noPythonMessage(), undefined));
    } else {
      await this.installWith(base);
    }
  }

  private async offerInstallation({ message, base }: NotInstalledError): Promise<void> {
    const installNow = vscode.l10n.t("Install");
    const getPython = vscode.l10n.t("Get Python");
    const choose = vscode.l10n.t("Choose Interpreter");
    const never = vscode.l10n.t("Don't Ask Again");
    const choice =
      base === undefined
        ? await vscode.window.showErrorMessage(message, getPython, choose, never)
        : await vscode.window.showInformationMessage(message, installNow, choose, never);
    if (choice === installNow && base !== undefined) {
      await this.installWith(base);
    } else if (choice === getPython) {
      await vscode.env.openExternal(vscode.Uri.parse(PYTHON_URL));
    } else if (choice === choose) {
      await chooseInterpreter();
    } else if (choice === never) {
      await this.memory.update(SILENCE_KEY, true);
      showQuietly(vscode.l10n.t("\"Context: Install Server\" installs it whenever you like."));
    }
  }

  private async offerOtherInterpreter({ message }: NoServerError): Promise<void> {
    const choose = vscode.l10n.t("Choose Interpreter");
    const showLogs = vscode.l10n.t("Show Logs");
    const choice = await vscode.window.showErrorMessage(message, choose, showLogs);
    if (choice === choose) {
      await chooseInterpreter();
    } else if (choice === showLogs) {
      this.logger.show();
    }
  }

  private async installWith(base: Base): Promise<void> {
    try {
      await vscode.window.withProgress(
        { location: vscode.ProgressLocation.Notification, title: vscode.l10n.t("Installing the Ullage server"), cancellable: true },
        (progress, token) => this.installReporting(base, progress, token),
      );
    } catch (error) {
      if (!(error instanceof InstallationError)) {
        throw error;
      }
      await this.tellProblem(error, base);
      return;
    }
    this.logger.info("The server is installed");
    await this.restart();
  }

  private async installReporting(
    base: Base,
    progress: vscode.Progress<{ message: string }>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const abort = new AbortController();
    token.onCancellationRequested(() => {
      abort.abort();
    });
    const report = (step: InstallationStep, line: string): void => {
      if (line !== "") {
        this.logger.info(`[pip] ${line}`);
      }
      progress.report({ message: stepMessage(step, line) });
    };
    await install(this.own, base.interpreter, { report, signal: abort.signal });
  }

  private async tellProblem(error: InstallationError, base: Base): Promise<void> {
    if (error.problem === "cancelled") {
      this.logger.info("The installation was cancelled");
      return;
    }
    this.logger.error(`The server was not installed: ${errorMessage(error)}`);
    const again = vscode.l10n.t("Try Again");
    const showLogs = vscode.l10n.t("Show Logs");
    const choice = await vscode.window.showErrorMessage(problemMessage(error, base), again, showLogs);
    if (choice === again) {
      await this.installWith(base);
    } else if (choice === showLogs) {
      this.logger.show();
    }
  }
}

function stepMessage(step: InstallationStep, line: string): string {
  if (step === "environment") {
    return vscode.l10n.t("making an environment");
  }
  const library = /^Collecting ([\w.-]+)/.exec(line)?.[1];
  return library === undefined ? vscode.l10n.t("getting its libraries") : vscode.l10n.t("getting {0}", library);
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
