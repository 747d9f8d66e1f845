/** Offers to install the server, shows how that goes, and says what to do when it cannot be done. */

import * as vscode from "vscode";
import type { Client } from "../client";
import type { OwnPlaces } from "../environments";
import { install, InstallationError, type InstallationStep } from "../installation";
import { errorMessage, type Logger } from "../logger";
import type { GaugeParams } from "../protocol";
import { notInstalled, NotInstalledError, type Base, type NoServerError } from "../server";
import { chooseInterpreter } from "../settings";
import { showQuietly } from "./outcome";

const PYTHON_URL = "https://www.python.org/downloads/";
const SILENCE_KEY = "ullage.offersNoInstallation";
const WALKTHROUGH = "ullage.ullage#start";

/** Chosen: the first start of a server reads its files from a cold disk; a later word would be about nothing. */
const FIRST_GAUGE_TIMEOUT_MS = 30_000;

export class ServerInstallation implements vscode.Disposable {
  private readonly declineEmitter = new vscode.EventEmitter<void>();
  readonly onDidDecline = this.declineEmitter.event;

  constructor(
    private readonly client: Client,
    private readonly own: OwnPlaces,
    private readonly logger: Logger,
    /** Shared by all windows of this machine. */
    private readonly memory: vscode.Memento,
  ) {}

  /** Whether the user has said that nothing is to be offered. */
  get isDeclined(): boolean {
    return this.memory.get<boolean>(SILENCE_KEY, false);
  }

  /**
   * Tell the user why the server did not start, and do what is chosen; who wants no offer is told when asking.
   *
   * An error with buttons would stay when the server is back by another way: the item and the view say it until then.
   */
  async offer(error: NoServerError, isAskedFor: boolean): Promise<void> {
    if (!(error instanceof NotInstalledError)) {
      await this.offerOtherInterpreter(error);
    } else if (isAskedFor || !this.isDeclined) {
      await this.offerInstallation(error);
    }
  }

  /** Install the server because the user asked for it, whether there is one or not. */
  async install(): Promise<void> {
    const answer = await notInstalled(this.own, this.logger);
    if (answer.base === undefined) {
      await this.offerInstallation(answer);
    } else {
      await this.installWith(answer.base);
    }
  }

  dispose(): void {
    this.declineEmitter.dispose();
  }

  private async offerInstallation({ message, base }: NotInstalledError): Promise<void> {
    const installNow = vscode.l10n.t("Install");
    const getPython = vscode.l10n.t("Get Python");
    const choose = vscode.l10n.t("Choose Interpreter");
    const never = vscode.l10n.t("Don't Ask Again");
    const choice =
      base === undefined
        ? await vscode.window.showWarningMessage(message, getPython, choose, never)
        : await vscode.window.showInformationMessage(message, installNow, choose, never);
    if (choice === installNow && base !== undefined) {
      await this.installWith(base);
    } else if (choice === getPython) {
      await vscode.env.openExternal(vscode.Uri.parse(PYTHON_URL));
    } else if (choice === choose) {
      await chooseInterpreter();
    } else if (choice === never) {
      await this.memory.update(SILENCE_KEY, true);
      this.declineEmitter.fire();
      showQuietly(vscode.l10n.t("\"Context: Install Server\" installs it whenever you like."));
    }
  }

  private async offerOtherInterpreter({ message }: NoServerError): Promise<void> {
    const choose = vscode.l10n.t("Choose Interpreter");
    const showLogs = vscode.l10n.t("Show Logs");
    const choice = await vscode.window.showWarningMessage(message, choose, showLogs);
    if (choice === choose) {
      await chooseInterpreter();
    } else if (choice === showLogs) {
      this.logger.show();
    }
  }

  private async installWith(base: Base): Promise<void> {
    if (this.client.health.state === "installing") {
      return;
    }
    const options = { location: vscode.ProgressLocation.Notification, title: vscode.l10n.t("Installing the Ullage server"), cancellable: true };
    const install = async (): Promise<void> =>
      vscode.window.withProgress(options, (progress, token) => this.installReporting(base, progress, token));
    try {
      await this.client.whileInstalling(install());
    } catch (error) {
      if (!(error instanceof InstallationError)) {
        throw error;
      }
      await this.tellProblem(error, base);
      return;
    }
    this.logger.info("The server is installed");
    const gauge = firstGauge(this.client);
    await this.client.restart();
    if (this.client.isRunning) {
      await this.tellReady(await gauge);
    }
  }

  private async tellReady(gauge: GaugeParams | undefined): Promise<void> {
    const open = vscode.l10n.t("Open Walkthrough");
    const message =
      gauge === undefined || gauge.session === null
        ? vscode.l10n.t("Ullage is ready: its gauge appears in the status bar as soon as an agent has a session in this folder.")
        : vscode.l10n.t("Ullage is ready: the gauge in the status bar shows {0}.", gauge.text);
    if ((await vscode.window.showInformationMessage(message, open)) === open) {
      await vscode.commands.executeCommand("workbench.action.openWalkthrough", WALKTHROUGH);
    }
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
    const choice = await vscode.window.showErrorMessage(problemMessage(error, base, this.own), again, showLogs);
    if (choice === again) {
      await this.installWith(base);
    } else if (choice === showLogs) {
      this.logger.show();
    }
  }
}

/** Return what the gauge shows first; undefined when that is nothing for long. */
async function firstGauge(client: Client): Promise<GaugeParams | undefined> {
  return new Promise((resolve) => {
    const end = (gauge?: GaugeParams): void => {
      clearTimeout(timer);
      subscription.dispose();
      resolve(gauge);
    };
    const timer = setTimeout(end, FIRST_GAUGE_TIMEOUT_MS);
    const subscription = client.onGauge((gauge) => {
      if (gauge !== undefined) {
        end(gauge);
      }
    });
  });
}

function stepMessage(step: InstallationStep, line: string): string {
  if (step === "environment") {
    return vscode.l10n.t("making an environment");
  }
  const library = /^Collecting ([\w.-]+)/.exec(line)?.[1];
  return library === undefined ? vscode.l10n.t("getting its libraries") : vscode.l10n.t("getting {0}", library);
}

function problemMessage(error: InstallationError, base: Base, own: OwnPlaces): string {
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
        "The Ullage server was not installed: this package of the extension does not carry it. Install the extension anew.",
      );
    case "storage":
      return vscode.l10n.t(
        "The Ullage server was not installed: nothing can be written into the folder {0} ({1}). Make it writable, then try again.",
        own.storageFolder,
        error.details,
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
