/** Runs the language server, and carries what the two sides say to each other. */

import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  ErrorCodes,
  ExecuteCommandRequest,
  LanguageClient,
  ResponseError,
  RevealOutputChannelOn,
  State,
  type LanguageClientOptions,
} from "vscode-languageclient/node";
import type { OwnPlaces } from "./installation";
import { errorMessage, type Logger } from "./logger";
import { Crashes } from "./model/crashes";
import { DOCUMENTS, isTranscript, withoutText } from "./model/documents";
import type { Health, HealthState } from "./model/health";
import {
  CHANGED_NOTIFICATION,
  GAUGE_NOTIFICATION,
  type ChangedParams,
  type Commands,
  type GaugeParams,
  type Requests,
} from "./protocol";
import { findServer, NoServerError } from "./server";
import { interpreterSetting, serverOptions } from "./settings";
import { offerServer } from "./views/installation";

/** Chosen: VS Code gives a deactivation about five seconds in all. */
const STOP_TIMEOUT_MS = 2_000;

/** Chosen: a server that has not introduced itself by then never will. */
const START_TIMEOUT_MS = 30_000;

/** How a command of the server that was not called by this extension (a code action, say) is run. */
export type ServerCommandHandler = (command: string, args: unknown[]) => Promise<unknown>;

/** Shows what the server wants to be shown; returns whether it did, else the editor opens it as any other. */
export type ShowDocumentHandler = (uri: vscode.Uri) => Promise<boolean>;

export class Client implements vscode.Disposable {
  private readonly gaugeEmitter = new vscode.EventEmitter<GaugeParams | undefined>();
  /** What the gauge shows; undefined while no server runs. */
  readonly onGauge = this.gaugeEmitter.event;

  private readonly changedEmitter = new vscode.EventEmitter<ChangedParams>();
  /** What should be asked for anew. */
  readonly onChanged = this.changedEmitter.event;

  private readonly healthEmitter = new vscode.EventEmitter<Health>();
  readonly onHealth = this.healthEmitter.event;
  private readonly workingEmitter = new vscode.EventEmitter<boolean>();
  /** Whether a command runs that the user waits for. */
  readonly onWorking = this.workingEmitter.event;

  private health: HealthState = "stopped";
  private nRunning = 0;
  private languageClient: LanguageClient | undefined;
  /** The last line of a server's log: of a traceback, the one that says what it is about. */
  private lastWords = "";
  private wanted = false;
  /** Starts and stops follow each other: two at once would leave a server behind. */
  private lastChange: Promise<void> = Promise.resolve();

  constructor(
    private readonly logger: Logger,
    private readonly own: OwnPlaces,
    private readonly runServerCommand: ServerCommandHandler,
    private readonly showDocument: ShowDocumentHandler,
  ) {}

  /** Whether there has been something for a server to do. */
  get isWanted(): boolean {
    return this.wanted;
  }

  /** Start the server, unless that was done before: its first use does it, whatever else does not. */
  async start(): Promise<void> {
    return this.wanted ? this.lastChange : this.restart();
  }

  /** Start the server, or start it anew. What goes wrong is shown to the user. */
  async restart(): Promise<void> {
    this.wanted = true;
    return this.change(async () => {
      await this.stopNow();
      await this.startNow();
    });
  }

  async stop(): Promise<void> {
    return this.change(() => this.stopNow());
  }

  get isRunning(): boolean {
    return this.languageClient !== undefined;
  }

  get state(): HealthState {
    return this.health;
  }

  get serverVersion(): string | undefined {
    return this.languageClient?.initializeResult?.serverInfo?.version;
  }

  /** The words that the last server was started with. */
  commandLine: string | undefined;

  /** Ask the server. Throws what it answers instead of a result: messages for the user. */
  async request<Name extends keyof Requests>(
    name: Name,
    argument: Requests[Name][0],
    token?: vscode.CancellationToken,
  ): Promise<Requests[Name][1]> {
    return (await this.send(name, argument, token)) as Requests[Name][1];
  }

  /** Run a command of the server. Throws as `request` does. */
  async execute<Name extends keyof Commands>(
    name: Name,
    argument: Commands[Name][0],
    token?: vscode.CancellationToken,
  ): Promise<Commands[Name][1]> {
    return (await this.executeUntyped(name, [argument], token)) as Commands[Name][1];
  }

  /** Run a command of the server whose arguments and result are not known here. */
  async executeUntyped(command: string, args: unknown[], token?: vscode.CancellationToken): Promise<unknown> {
    this.nRunning += 1;
    this.workingEmitter.fire(true);
    try {
      return await this.send(ExecuteCommandRequest.method, { command, arguments: args }, token);
    } finally {
      this.nRunning -= 1;
      this.workingEmitter.fire(this.nRunning > 0);
    }
  }

  private async send(method: string, params: unknown, token?: vscode.CancellationToken): Promise<unknown> {
    await this.start();
    if (this.languageClient === undefined) {
      throw new Error(vscode.l10n.t("The Ullage server is not running. Start it with \"Context: Restart Server\"."));
    }
    try {
      // An undefined token would count as a second parameter, and both would be sent as an array.
      return await (token === undefined
        ? this.languageClient.sendRequest(method, params)
        : this.languageClient.sendRequest(method, params, token));
    } catch (error) {
      if (error instanceof ResponseError && error.code === ErrorCodes.PendingResponseRejected) {
        throw new Error(vscode.l10n.t("The Ullage server ended before it answered."), { cause: error });
      }
      throw error;
    }
  }

  dispose(): void {
    void this.stop();
    this.gaugeEmitter.dispose();
    this.changedEmitter.dispose();
    this.healthEmitter.dispose();
    this.workingEmitter.dispose();
  }

  private async change(step: () => Promise<void>): Promise<void> {
    this.lastChange = this.lastChange.then(step);
    return this.lastChange;
  }

  private tellHealth(state: HealthState, detail = ""): void {
    this.health = state;
    this.healthEmitter.fire({ state, detail });
  }

  private async startNow(): Promise<void> {
    this.lastWords = "";
    this.tellHealth("starting");
    try {
      const executable = await findServer(interpreterSetting(), this.own, this.logger);
      this.commandLine = [executable.command, ...(executable.args ?? [])].join(" ");
      const client = new QuietLanguageClient("ullage", "Ullage", executable, this.options());
      client.onNotification(GAUGE_NOTIFICATION, (params: GaugeParams) => {
        this.gaugeEmitter.fire(params);
      });
      client.onNotification(CHANGED_NOTIFICATION, (params: ChangedParams) => {
        this.changedEmitter.fire(params);
      });
      client.onDidChangeState((event) => {
        if (event.newState !== State.Running) {
          this.gaugeEmitter.fire(undefined);
        } else if (this.languageClient === client) {
          // Started again by itself after a crash.
          this.tellHealth("running");
        }
      });
      await withinTime(client.start(), START_TIMEOUT_MS, () => client.serverProcess?.kill());
      // The language client (10.1.2) calls it a start when the server ended before it answered.
      if (client.state !== State.Running) {
        throw new Error(vscode.l10n.t("it ended at once. {0}", this.lastWords));
      }
      this.languageClient = client;
      this.tellHealth("running");
    } catch (error) {
      this.logger.error(errorMessage(error));
      if (error instanceof NoServerError) {
        this.tellHealth("no interpreter", error.message);
        void offerServer(error, this.own, this.logger, () => this.restart());
      } else {
        this.tellHealth("stopped", errorMessage(error));
        void this.offerRestart(vscode.l10n.t("The Ullage server did not start: {0}", errorMessage(error)));
      }
    }
  }

  private async stopNow(): Promise<void> {
    const client = this.languageClient;
    this.languageClient = undefined;
    this.tellHealth("stopped");
    try {
      await client?.dispose(STOP_TIMEOUT_MS);
    } catch (error) {
      // The language client kills a server that does not stop.
      this.logger.warn(`The server did not stop properly: ${errorMessage(error)}`);
    }
  }

  private readonly logLines = (input: Readable): void => {
    createInterface({ input, crlfDelay: Infinity }).on("line", (line) => {
      this.lastWords = line;
      this.logger.info(`[server] ${line}`);
    });
  };

  private options(): LanguageClientOptions {
    const crashes = new Crashes();
    return {
      initializationOptions: serverOptions,
      documentSelector: [...DOCUMENTS],
      outputChannel: this.logger,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      markdown: { isTrusted: false, supportHtml: false },
      middleware: {
        executeCommand: (command, args: unknown[]) => this.runServerCommand(command, args),
        window: {
          showDocument: async (params, token, next) =>
            (await this.showDocument(vscode.Uri.parse(params.uri, true))) ? { success: true } : next(params, token),
        },
        didOpen: (document, next) => next(isTranscript(document.uri.path) ? withoutText(document) : document),
      },
      // The server's own log has its levels in the text, and is no error of the client's.
      stdioOptions: { stdout: this.logLines, stderr: this.logLines },
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          // Until the first start succeeds, the one who waits for it reports the failure.
          if (this.languageClient === undefined) {
            return { action: CloseAction.DoNotRestart, handled: true };
          }
          if (crashes.add(Date.now())) {
            this.tellHealth("starting");
            return { action: CloseAction.Restart, handled: true };
          }
          this.languageClient = undefined;
          this.tellHealth("stopped", this.lastWords);
          void this.offerRestart(vscode.l10n.t("The Ullage server crashed several times within three minutes and is not started again."));
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
    };
  }

  private async offerRestart(message: string): Promise<void> {
    const restart = vscode.l10n.t("Restart Server");
    const showLogs = vscode.l10n.t("Show Logs");
    const choice = await vscode.window.showErrorMessage(message, restart, showLogs);
    if (choice === restart) {
      await this.restart();
    } else if (choice === showLogs) {
      this.logger.show();
    }
  }
}

/** A language client that logs its errors and leaves it to us to tell the user, once and in words made for users. */
class QuietLanguageClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** Wait for a promise; when the time is over, call `giveUp` and throw. */
async function withinTime<Value>(promise: Promise<Value>, timeout_ms: number, giveUp: () => void): Promise<Value> {
  const timer = new AbortController();
  const timeout = delay(timeout_ms, undefined, { signal: timer.signal }).then(() => {
    giveUp();
    throw new Error(vscode.l10n.t("no answer within {0} seconds", timeout_ms / 1000));
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    timer.abort();
  }
}
