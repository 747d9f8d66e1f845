/**
 * The connection to a running server: the one module that loads the language client.
 *
 * That takes several times as long as all else together, so it is a file of its own in `dist/`, read at the first start
 * of a server; `client.ts` may import only its types.
 */

import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";
import {
  CloseAction,
  DidChangeConfigurationNotification,
  ErrorAction,
  ErrorCodes,
  LanguageClient,
  MessageType,
  ResponseError,
  RevealOutputChannelOn,
  ShowMessageRequest,
  State,
  WorkDoneProgress,
  type Executable,
  type LanguageClientOptions,
  type MessageActionItem,
  type ShowMessageRequestParams,
} from "vscode-languageclient/node";
import { errorMessage, type Logger } from "./logger";
import { DOCUMENTS, isKnownToServer, withoutText } from "./model/documents";
import type { Step } from "./model/progress";
import {
  CHANGED_NOTIFICATION,
  CONFIRM_QUESTION,
  COPY_NOTIFICATION,
  GAUGE_NOTIFICATION,
  RESUME_NOTIFICATION,
  TERMINAL_NOTIFICATION,
  type ChangedParams,
  type ConfirmParams,
  type ConfirmResult,
  type CopyParams,
  type GaugeParams,
  type ResumeParams,
  type TerminalParams,
} from "./protocol";
import { serverOptions, serverSettings } from "./settings";

/** Chosen: VS Code gives a deactivation about five seconds in all. */
const STOP_TIMEOUT_MS = 2_000;

/** Chosen: a server that has not introduced itself by then never will. */
const START_TIMEOUT_MS = 30_000;

/** What the language client answers in place of a server that has ended, after or before it was asked. */
const HAS_ENDED: readonly number[] = [ErrorCodes.PendingResponseRejected, ErrorCodes.ConnectionInactive];

/** What the server says and asks of its own accord. */
export interface Peer {
  onGauge(params: GaugeParams): void;
  onChanged(params: ChangedParams): void;
  onCopy(params: CopyParams): void;
  onResume(params: ResumeParams): void;
  onTerminal(params: TerminalParams): void;
  /** It ran, and has ended without being told to. */
  onEnd(): void;
  onLogLine(line: string): void;
  /** A command of the server that was not called by this extension: a code action's, say. */
  runCommand(command: string, args: unknown[]): Promise<unknown>;
  /** Return whether it was shown; else the editor opens it as any other document. */
  showDocument(uri: vscode.Uri): Promise<boolean>;
  /** Called with each question that a command asks, which is over when the promise is: a message waits for nobody. */
  onQuestion(answer: Promise<unknown>): void;
}

/** How a request is accompanied that takes its time. */
export interface RequestOptions {
  readonly token?: vscode.CancellationToken;
  /** Called with the steps that the server reports; without it the server shows a progress of its own. */
  readonly onStep?: (step: Step) => void;
}

export class Connection {
  private readonly languageClient: LanguageClient;
  /** From the end of a start that succeeded until it ends, or is told to. */
  private isInUse = false;

  constructor(
    executable: Executable,
    private readonly peer: Peer,
    private readonly logger: Logger,
  ) {
    const client = new QuietLanguageClient("ullage", "Ullage", executable, this.options());
    client.onNotification(GAUGE_NOTIFICATION, (params: GaugeParams) => {
      peer.onGauge(params);
    });
    client.onNotification(COPY_NOTIFICATION, (params: CopyParams) => {
      peer.onCopy(params);
    });
    client.onNotification(RESUME_NOTIFICATION, (params: ResumeParams) => {
      peer.onResume(params);
    });
    client.onNotification(TERMINAL_NOTIFICATION, (params: TerminalParams) => {
      peer.onTerminal(params);
    });
    client.onNotification(CHANGED_NOTIFICATION, (params: ChangedParams) => {
      peer.onChanged(params);
    });
    // Takes the place of the language client's own, which does not say that a button came too late.
    client.onRequest(ShowMessageRequest.type, (params) => this.ask(params));
    client.onRequest(CONFIRM_QUESTION, (params: ConfirmParams) => {
      const answer = confirm(params);
      peer.onQuestion(answer);
      return answer;
    });
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Stopped && this.isInUse) {
        this.isInUse = false;
        peer.onEnd();
      }
    });
    this.languageClient = client;
  }

  get serverVersion(): string | undefined {
    return this.languageClient.initializeResult?.serverInfo?.version;
  }

  /** Start the server; return whether it runs, which it does not when it ended at once. Of a failure nothing stays. */
  async start(): Promise<boolean> {
    const { languageClient } = this;
    try {
      await withinTime(languageClient.start(), START_TIMEOUT_MS, () => languageClient.serverProcess?.kill());
      // The language client (10.1.2) calls it a start when the server ended before it answered.
      this.isInUse = languageClient.state === State.Running;
    } finally {
      if (!this.isInUse) {
        await this.stop();
      }
    }
    return this.isInUse;
  }

  async send(method: string, params: object, { token, onStep }: RequestOptions): Promise<unknown> {
    const workDoneToken = randomUUID();
    const progress =
      onStep &&
      this.languageClient.onProgress(WorkDoneProgress.type, workDoneToken, (value) => {
        onStep(
          value.kind === "end"
            ? { kind: "end" }
            : { kind: "report", message: value.message ?? "", percentage: value.percentage ?? 0 },
        );
      });
    const said = progress === undefined ? params : { ...params, workDoneToken };
    try {
      // An undefined token would count as a second parameter, and both would be sent as an array.
      return await (token === undefined
        ? this.languageClient.sendRequest(method, said)
        : this.languageClient.sendRequest(method, said, token));
    } catch (error) {
      if (error instanceof ResponseError && HAS_ENDED.includes(error.code)) {
        throw new Error(vscode.l10n.t("The Ullage server ended before it answered."), { cause: error });
      }
      throw error;
    } finally {
      progress?.dispose();
    }
  }

  /** Tell the server the settings as they are now. */
  async configure(): Promise<void> {
    try {
      const settings = { ullage: serverSettings() };
      await this.languageClient.sendNotification(DidChangeConfigurationNotification.type, { settings });
    } catch (error) {
      // A server that is gone is told at its next start.
      this.logger.warn(`The server was not told the settings: ${errorMessage(error)}`);
    }
  }

  async stop(): Promise<void> {
    this.isInUse = false;
    try {
      await this.languageClient.dispose(STOP_TIMEOUT_MS);
    } catch (error) {
      // The language client kills a server that does not stop.
      this.logger.warn(`The server did not stop properly: ${errorMessage(error)}`);
    }
  }

  private async ask({ type, message, actions = [] }: ShowMessageRequestParams): Promise<MessageActionItem | null> {
    const { showErrorMessage, showWarningMessage, showInformationMessage } = vscode.window;
    const show: (message: string, ...items: MessageActionItem[]) => Thenable<MessageActionItem | undefined> =
      type === MessageType.Error ? showErrorMessage : type === MessageType.Warning ? showWarningMessage : showInformationMessage;
    const answer = (await show(message, ...actions)) ?? null;
    if (answer !== null && !this.isInUse) {
      void sayTooLate(answer.title);
    }
    return answer;
  }

  private options(): LanguageClientOptions {
    const { peer } = this;
    const logLines = (input: Readable): void => {
      createInterface({ input, crlfDelay: Infinity }).on("line", (line) => {
        peer.onLogLine(line);
      });
    };
    return {
      initializationOptions: serverOptions,
      documentSelector: [...DOCUMENTS],
      outputChannel: this.logger,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      markdown: { isTrusted: false, supportHtml: false },
      middleware: {
        executeCommand: (command, args: unknown[]) => peer.runCommand(command, args),
        window: {
          showDocument: async (params, token, next) =>
            (await peer.showDocument(vscode.Uri.parse(params.uri, true))) ? { success: true } : next(params, token),
        },
        didOpen: (document, next) => next(isKnownToServer(document.uri) ? withoutText(document) : document),
      },
      // The server's own log has its levels in the text, and is no error of the client's.
      stdioOptions: { stdout: logLines, stderr: logLines },
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        // The client starts it anew, from the search for an interpreter on.
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
      },
    };
  }
}

/** A language client that logs its errors and leaves it to us to tell the user, once and in words made for users. */
class QuietLanguageClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** A message stays on the screen when its server has ended, and its buttons with it. */
async function sayTooLate(title: string): Promise<void> {
  const showMenu = vscode.l10n.t("Show Menu…");
  const message = vscode.l10n.t("\"{0}\" did nothing: the server that asked this has ended. The menu has what can be done now.", title);
  if ((await vscode.window.showWarningMessage(message, showMenu)) === showMenu) {
    await vscode.commands.executeCommand("ullage.showMenu");
  }
}

/** The user has just called a command: what it asks is not to be overlooked, or answered much later. */
async function confirm({ question, detail, button }: ConfirmParams): Promise<ConfirmResult> {
  return { isConfirmed: (await vscode.window.showWarningMessage(question, { modal: true, detail }, button)) === button };
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
