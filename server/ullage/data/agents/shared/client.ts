/**
 * The agent's side of `ullage agent`: start it, ask it, and never let it get in the agent's way.
 *
 * Nothing in here throws or rejects. A service that is missing, slow or dead answers `undefined`,
 * and the caller does what it would have done without it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { CANCEL_REQUEST, type Methods, type Open, type Opened, PROTOCOL_VERSION } from "./protocol.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
/** In a row: an agent that waits in vain at every request is worse off than without us. */
const MAX_FAILURES = 3;
const PAUSE_MS = 60_000;
const MAX_STARTS = 5;
/** A new interpreter on a cold disk and a loaded machine. */
const OPEN_TIMEOUT_MS = 20_000;
const END_TIMEOUT_MS = 500;

type Name = keyof Methods;
type Params<N extends Name> = Methods[N][0];
type Result<N extends Name> = Methods[N][1];

/** What became of a question. */
type Outcome =
  | { kind: "answer"; result: unknown }
  | { kind: "refusal"; reason: string }
  | { kind: "failure"; reason: string; isFinal: boolean }
  /** The caller gave up, or the service is not there yet. */
  | { kind: "nothing" };

const NOTHING = { kind: "nothing" } as const;

export interface AskOptions {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** Read the command that `ullage install` left beside this file, or take `ullage` from the path. */
export function serviceCommand(): readonly string[] {
  try {
    const { command } = JSON.parse(readFileSync(join(HERE, "command.json"), "utf8")) as { command?: unknown };
    if (Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === "string")) {
      return command;
    }
  } catch {
    // Put here by hand, or damaged; the path may still have the program.
  }
  return ["ullage", "agent"];
}

/** One session in the service; the process is started by the first question, and again if it ended. */
export class Service {
  /** Why the last question had no answer; fit for the user. */
  problem: string | undefined;
  isClosed = false;
  private readonly command: readonly string[];
  private readonly opening: () => Open;
  private connection: Connection | undefined;
  private nStarts = 0;
  private nFailures = 0;
  private resumesMs = 0;

  constructor(command: readonly string[], opening: () => Open) {
    this.command = command;
    this.opening = opening;
  }

  /** Whether it is left alone, for a while or for good. */
  get isAway(): boolean {
    return Date.now() < this.resumesMs;
  }

  /** Start the process; nobody needs to wait for it. */
  async start(): Promise<Opened | undefined> {
    const opened = await this.connected()?.opened;
    return opened?.kind === "answer" ? (opened.result as Opened) : undefined;
  }

  /** Say something that needs no answer. */
  notify<N extends Name>(method: N, params: Params<N>): void {
    void this.connected()?.notify(method, params);
  }

  async ask<N extends Name>(method: N, params: Params<N>, options: AskOptions): Promise<Result<N> | undefined> {
    const outcome = await this.connected()?.ask(method, params, options);
    switch (outcome?.kind) {
      case "answer":
        this.nFailures = 0;
        this.problem = undefined;
        return outcome.result as Result<N>;
      case "refusal":
        this.problem = outcome.reason;
        return undefined;
      case "failure":
        this.problem = outcome.reason;
        this.nFailures += 1;
        if (outcome.isFinal || this.nFailures >= MAX_FAILURES) {
          this.leave(outcome.isFinal ? Infinity : PAUSE_MS);
        }
        return undefined;
      case "nothing":
      case undefined:
        return undefined;
    }
  }

  /** Let the process end, and stop it if it does not. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.connection?.close();
  }

  private connected(): Connection | undefined {
    if (this.isClosed || this.isAway) {
      return undefined;
    }
    if (this.connection?.isEnded === false) {
      return this.connection;
    }
    if (this.nStarts >= MAX_STARTS) {
      this.leave(Infinity);
      return undefined;
    }
    this.nStarts += 1;
    try {
      this.connection = new Connection(this.command, this.opening());
      return this.connection;
    } catch (error) {
      this.problem = `it cannot be started: ${String(error)}`;
      this.leave(Infinity);
      return undefined;
    }
  }

  private leave(durationMs: number): void {
    this.resumesMs = Date.now() + durationMs;
    this.nFailures = 0;
    void this.connection?.close();
    this.connection = undefined;
  }
}

/** One process and the session that was opened in it. */
class Connection {
  isEnded = false;
  readonly opened: Promise<Outcome>;
  private isStarting = true;
  private isAwaited = false;
  private readonly process: ChildProcess;
  private readonly stdin: Writable;
  private readonly ended: Promise<void>;
  private readonly waiting = new Map<unknown, (outcome: Outcome) => void>();
  private lastId = 0;

  constructor(command: readonly string[], open: Open) {
    const [program = "", ...args] = command;
    // Not in the project's folder: `python -m` would import a module that lies there.
    const process: ChildProcess = spawn(program, args, { cwd: HERE, stdio: ["pipe", "pipe", "ignore"], windowsHide: true });
    const { stdin, stdout } = process;
    if (stdin === null || stdout === null) {
      throw new Error("too many files are open");
    }
    this.process = process;
    this.stdin = stdin;
    this.stdin.on("error", () => {
      // It went away while we wrote; `exit` tells.
    });
    this.ended = new Promise((resolve) => {
      process.once("error", (error) => {
        this.end({ kind: "failure", reason: `it cannot be started: ${error.message}`, isFinal: true });
        resolve();
      });
      process.once("exit", () => {
        this.end({ kind: "failure", reason: "it ended by itself", isFinal: false });
        resolve();
      });
    });
    readLines(stdout, (line) => {
      this.receive(line);
    });
    // The agent may end at any time without us; while it waits for an answer, our timer holds it.
    for (const held of [process, this.stdin, stdout]) {
      (held as { unref?: () => void }).unref?.(); // pipes have it, too
    }
    this.opened = this.open(open);
  }

  async notify(method: string, params: object): Promise<void> {
    const opened = await this.opened;
    if (opened.kind === "answer") {
      this.send({ method, params: inSession(opened, params) });
    }
  }

  async ask(method: string, params: object, { timeoutMs, signal }: AskOptions): Promise<Outcome> {
    if (this.isStarting && this.isAwaited && timeoutMs < OPEN_TIMEOUT_MS) {
      return NOTHING; // a slow start is waited for once, except by those who have the time
    }
    this.isAwaited = true;
    const cut = interruption(timeoutMs, signal);
    const opened = await Promise.race([this.opened, cut.outcome.then(() => NOTHING)]);
    const outcome =
      opened.kind === "answer"
        ? await Promise.race([this.request(method, inSession(opened, params), cut), cut.outcome])
        : opened;
    cut.release();
    return outcome;
  }

  async close(): Promise<void> {
    await within(END_TIMEOUT_MS, this.notify("context/close", {}));
    this.stdin.end();
    await within(END_TIMEOUT_MS, this.ended);
    this.process.kill();
  }

  private async open(open: Open): Promise<Outcome> {
    const cut = interruption(OPEN_TIMEOUT_MS, undefined);
    const outcome = await Promise.race([this.request("context/open", open, cut), cut.outcome]);
    cut.release();
    this.isStarting = false;
    return checked(outcome);
  }

  private request(method: string, params: object, cut: Interruption): Promise<Outcome> {
    const id = (this.lastId += 1);
    void cut.outcome.then(() => {
      if (this.waiting.delete(id)) {
        this.send({ method: CANCEL_REQUEST, params: { id } });
      }
    });
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.send({ id, method, params });
    });
  }

  private send(message: object): void {
    if (this.stdin.writable) {
      this.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    }
  }

  private receive(line: string): void {
    let reply: { id?: unknown; result?: unknown; error?: { message?: unknown } } | null;
    try {
      reply = JSON.parse(line) as typeof reply;
    } catch {
      return;
    }
    const settle = this.waiting.get(reply?.id);
    this.waiting.delete(reply?.id);
    settle?.(
      reply?.error === undefined
        ? { kind: "answer", result: reply?.result }
        : { kind: "refusal", reason: String(reply.error.message) },
    );
  }

  private end(outcome: Outcome): void {
    this.isEnded = true;
    for (const settle of this.waiting.values()) {
      settle(outcome);
    }
    this.waiting.clear();
  }
}

interface Interruption {
  /** Settles when the time is up, the caller does not want it any more, or never. */
  outcome: Promise<Outcome>;
  isOver: boolean;
  release: () => void;
}

function interruption(timeoutMs: number, signal: AbortSignal | undefined): Interruption {
  const cut: Interruption = { outcome: Promise.resolve(NOTHING), isOver: false, release: () => undefined };
  cut.outcome = new Promise((resolve) => {
    const settle = (outcome: Outcome): void => {
      cut.isOver = true;
      resolve(outcome);
    };
    const cancel = (): void => {
      settle(NOTHING);
    };
    const timer = setTimeout(() => {
      settle({ kind: "failure", reason: `it did not answer within ${timeoutMs / 1000} s`, isFinal: false });
    }, timeoutMs);
    cut.release = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    };
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted === true) {
      cancel();
    }
  });
  return cut;
}

function inSession(opened: { result: unknown }, params: object): object {
  return { ...params, session: (opened.result as Opened).session };
}

/** A service that refuses the session, or that is of another version, is of no use at all. */
function checked(opened: Outcome): Outcome {
  if (opened.kind === "refusal") {
    return { kind: "failure", reason: opened.reason, isFinal: true };
  }
  if (opened.kind === "answer" && (opened.result as Opened).version !== PROTOCOL_VERSION) {
    return { kind: "failure", reason: "it is of another version; run `ullage install` once more", isFinal: true };
  }
  return opened;
}

async function within(timeoutMs: number, done: Promise<void>): Promise<void> {
  const cut = interruption(timeoutMs, undefined);
  await Promise.race([done, cut.outcome]);
  cut.release();
}

/** Call with each line; `readline` would also end lines at U+2028, which JSON may hold. */
function readLines(stream: Readable, take: (line: string) => void): void {
  let pieces: string[] = [];
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const [first = "", ...others] = chunk.split("\n");
    pieces.push(first);
    for (const next of others) {
      take(pieces.join(""));
      pieces = [next];
    }
  });
}
