/** Runs the language server, and carries what the two sides say to each other. */

import * as vscode from "vscode";
import type { Connection, Peer, RequestOptions } from "./serverConnection";
import type { OwnPlaces } from "./environments";
import { errorMessage, type Logger } from "./logger";
import { Crashes } from "./model/crashes";
import type { Health } from "./model/health";
import { Work } from "./model/work";
import type { ChangedParams, Commands, GaugeParams, Requests, ResumeParams, TerminalParams } from "./protocol";
import { findServer, NoServerError, NotInstalledError } from "./server";
import { interpreterSetting } from "./settings";

const EXECUTE_COMMAND = "workspace/executeCommand";

/** What the client leaves to others. */
export interface Handlers {
  /** Run a command of the server that was not called by this extension: a code action's, say. */
  readonly runServerCommand: (command: string, args: unknown[]) => Promise<unknown>;
  readonly copyText: (text: string) => Promise<void>;
  readonly resume: (resume: ResumeParams) => void;
  readonly showTerminal: (params: TerminalParams) => Promise<void>;
  /** Show what the server wants to be shown; return whether it was, else the editor opens it as any other. */
  readonly showDocument: (uri: vscode.Uri) => Promise<boolean>;
  /** Say why no server was found, and offer what helps; the user may have asked for the start or not. */
  readonly offerServer: (error: NoServerError, isAskedFor: boolean) => Promise<void>;
}

export class Client implements vscode.Disposable {
  private readonly gaugeEmitter = new vscode.EventEmitter<GaugeParams | undefined>();
  /** What the gauge shows; undefined while no server runs. */
  readonly onGauge = this.gaugeEmitter.event;

  private readonly changedEmitter = new vscode.EventEmitter<ChangedParams>();
  /** What should be asked for anew. */
  readonly onChanged = this.changedEmitter.event;

  private readonly healthEmitter = new vscode.EventEmitter<Health>();
  readonly onHealth = this.healthEmitter.event;
  private readonly workingEmitter = new vscode.EventEmitter<void>();
  /** `isWorking` may have changed. */
  readonly onWorking = this.workingEmitter.event;

  private currentHealth: Health = { state: "stopped", detail: "" };
  private readonly work = new Work();
  private crashes = new Crashes();
  private connection: Connection | undefined;
  /** The last line of a server's log: of a traceback, the one that says what it is about. */
  private lastWords = "";
  private wanted = false;
  /** A restart that has not begun: who asks for another meanwhile waits for that one. */
  private waitingRestart: { isAskedFor: boolean; done: Promise<void> } | undefined;
  /** Starts and stops follow each other: two at once would leave a server behind. */
  private lastChange: Promise<void> = Promise.resolve();

  constructor(
    private readonly logger: Logger,
    private readonly own: OwnPlaces,
    private readonly handlers: Handlers,
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
  async restart({ isAskedFor = false } = {}): Promise<void> {
    this.wanted = true;
    const waiting = this.waitingRestart ?? this.queueRestart();
    waiting.isAskedFor ||= isAskedFor;
    if (isAskedFor) {
      this.crashes = new Crashes();
    }
    return waiting.done;
  }

  async stop(): Promise<void> {
    // What is asked for after this comes after it.
    this.waitingRestart = undefined;
    return this.change(() => this.stopNow("stopped"));
  }

  /** Tell a running server that settings have changed: its open questions and what it has read stay. */
  async configure(): Promise<void> {
    return this.change(async () => this.connection?.configure());
  }

  /** Wait for what installs a server, and say so meanwhile, unless a server runs: that one goes on. */
  async whileInstalling(installed: Promise<void>): Promise<void> {
    const before = this.health;
    if (before.state !== "running") {
      this.tellHealth({ state: "installing", detail: "" });
    }
    try {
      await installed;
    } finally {
      if (this.health.state === "installing") {
        this.tellHealth(before);
      }
    }
  }

  get isRunning(): boolean {
    return this.connection !== undefined;
  }

  get health(): Health {
    return this.currentHealth;
  }

  /** Whether a command runs that the user waits for, and that does not wait for the user. */
  get isWorking(): boolean {
    return this.work.isWorking;
  }

  get serverVersion(): string | undefined {
    return this.connection?.serverVersion;
  }

  /** The words that the last server was started with. */
  commandLine: string | undefined;

  /** Ask the server. Throws what it answers instead of a result: messages for the user. */
  async request<Name extends keyof Requests>(
    name: Name,
    argument: Requests[Name][0],
    options: RequestOptions = {},
  ): Promise<Requests[Name][1]> {
    return (await this.send(name, argument, options)) as Requests[Name][1];
  }

  /** Run a command of the server. Throws as `request` does. */
  async execute<Name extends keyof Commands>(
    name: Name,
    argument: Commands[Name][0],
    options: RequestOptions = {},
  ): Promise<Commands[Name][1]> {
    return (await this.executeUntyped(name, [argument], options)) as Commands[Name][1];
  }

  /** Run a command of the server whose arguments and result are not known here. */
  async executeUntyped(command: string, args: unknown[], options: RequestOptions = {}): Promise<unknown> {
    const end = this.work.begin();
    this.tellWork();
    try {
      return await this.send(EXECUTE_COMMAND, { command, arguments: args }, options);
    } finally {
      end();
      this.tellWork();
    }
  }

  private async send(method: string, params: object, options: RequestOptions): Promise<unknown> {
    await this.start();
    if (this.connection === undefined) {
      const { state } = this.health;
      throw new Error(
        state === "not installed" || state === "no python"
          ? vscode.l10n.t("The Ullage server is not installed. Install it with \"Context: Install Server\".")
          : vscode.l10n.t("The Ullage server is not running. Start it with \"Context: Restart Server\"."),
      );
    }
    return this.connection.send(method, params, options);
  }

  dispose(): void {
    void this.stop();
    this.gaugeEmitter.dispose();
    this.changedEmitter.dispose();
    this.healthEmitter.dispose();
    this.workingEmitter.dispose();
  }

  private queueRestart(): { isAskedFor: boolean; done: Promise<void> } {
    const waiting = { isAskedFor: false, done: Promise.resolve() };
    this.waitingRestart = waiting;
    waiting.done = this.change(async () => {
      if (this.waitingRestart === waiting) {
        this.waitingRestart = undefined;
      }
      await this.stopNow("starting");
      await this.startNow(waiting.isAskedFor);
    });
    return waiting;
  }

  private async change(step: () => Promise<void>): Promise<void> {
    this.lastChange = this.lastChange.then(step);
    return this.lastChange;
  }

  private tellHealth(health: Health): void {
    this.currentHealth = health;
    this.healthEmitter.fire(health);
  }

  private tellWork(): void {
    this.workingEmitter.fire();
  }

  private async startNow(isAskedFor: boolean): Promise<void> {
    this.lastWords = "";
    try {
      const executable = await findServer(interpreterSetting(), this.own, this.logger);
      this.commandLine = [executable.command, ...(executable.args ?? [])].join(" ");
      const { Connection } = await import("./serverConnection");
      const connection = new Connection(executable, this.peer(), this.logger);
      if (!(await connection.start())) {
        throw new Error(vscode.l10n.t("it ended at once"));
      }
      this.connection = connection;
      this.tellHealth({ state: "running", detail: "" });
    } catch (error) {
      this.logger.error(errorMessage(error));
      if (error instanceof NoServerError) {
        const isChosen = !(error instanceof NotInstalledError);
        const state = isChosen ? "no interpreter" : error.base === undefined ? "no python" : "not installed";
        // What was found has room in a line beside a command that must be seen.
        this.tellHealth({ state, detail: error.found, help: error.message });
        void this.handlers.offerServer(error, isAskedFor);
      } else {
        // What breaks may be the writing to a server that has said why it ended.
        const reason = [errorMessage(error), this.lastWords].filter((words) => words !== "").join(" · ");
        this.tellHealth({ state: "stopped", detail: reason });
        void this.offerRestart(vscode.l10n.t("The Ullage server did not start: {0}", reason));
      }
    }
  }

  private async stopNow(next: Health["state"]): Promise<void> {
    const { connection } = this;
    this.connection = undefined;
    this.gaugeEmitter.fire(undefined);
    this.tellHealth({ state: next, detail: "" });
    await connection?.stop();
  }

  private peer(): Peer {
    return {
      onGauge: (params) => {
        this.gaugeEmitter.fire(params);
      },
      onChanged: (params) => {
        this.changedEmitter.fire(params);
      },
      onEnd: () => {
        this.afterCrash();
      },
      onLogLine: (line) => {
        this.lastWords = line;
        this.logger.info(`[server] ${line}`);
      },
      onCopy: ({ text }) => {
        void this.handlers.copyText(text);
      },
      onResume: this.handlers.resume,
      onTerminal: (params) => {
        void this.handlers.showTerminal(params);
      },
      runCommand: this.handlers.runServerCommand,
      showDocument: this.handlers.showDocument,
      onQuestion: (answer) => {
        const end = this.work.ask();
        this.tellWork();
        void answer.finally(() => {
          end();
          this.tellWork();
        });
      },
    };
  }

  /** Start the server anew, from the search for an interpreter on; one that crashes again and again is left alone. */
  private afterCrash(): void {
    this.connection = undefined;
    this.gaugeEmitter.fire(undefined);
    this.logger.warn("The server ended without being told to");
    if (this.crashes.add(Date.now())) {
      void this.restart();
      return;
    }
    this.tellHealth({ state: "stopped", detail: this.lastWords });
    void this.offerRestart(vscode.l10n.t("The Ullage server crashed several times within three minutes and is not started again."));
  }

  /** No error, which would stay when the server is back by another way: the item says it until then. */
  private async offerRestart(message: string): Promise<void> {
    const restart = vscode.l10n.t("Restart Server");
    const showLogs = vscode.l10n.t("Show Logs");
    const choice = await vscode.window.showWarningMessage(message, restart, showLogs);
    if (choice === restart) {
      await this.restart({ isAskedFor: true });
    } else if (choice === showLogs) {
      this.logger.show();
    }
  }
}
