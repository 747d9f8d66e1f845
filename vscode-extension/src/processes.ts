/** Runs a program to its end, or ends it with all that it started. */

import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { Interpreter } from "./model/interpreter";

/** Chosen: more than any traceback; what a program says beyond it at its start is not kept. */
const MAX_OUTPUT_CHARS = 20_000;

/** Chosen: what a program has written before its end arrives by then; a child that it leaves behind may hold on for ever. */
const GRACE_MS = 500;

export interface ProgramOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeout_ms: number;
  readonly signal?: AbortSignal;
  /** Called with each line of the standard output. */
  readonly onLine?: (line: string) => void;
}

export interface Ended {
  readonly succeeded: boolean;
  /** The end of the standard output. */
  readonly output: string;
  /** The end of both outputs, or why the program could not be started or was ended. */
  readonly problem: string;
}

/** Run a program with further arguments; that it fails is an answer, no exception. */
export async function runProgram(
  program: Interpreter,
  args: readonly string[],
  { cwd, env, timeout_ms, signal, onLine }: ProgramOptions,
): Promise<Ended> {
  if (signal?.aborted === true) {
    return { succeeded: false, output: "", problem: "cancelled" };
  }
  const child = spawn(program.command, [...program.args, ...args], {
    cwd,
    env,
    // A group of its own can be ended as a whole; Windows has other means.
    detached: process.platform !== "win32",
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
  });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output = (output + text).slice(-MAX_OUTPUT_CHARS);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-MAX_OUTPUT_CHARS);
  });
  if (onLine !== undefined) {
    createInterface({ input: child.stdout, crlfDelay: Infinity }).on("line", onLine);
  }
  return new Promise((resolve) => {
    let reason = "";
    const end = (why: string): void => {
      reason = why;
      endTree(child);
    };
    const cancel = (): void => {
      end("cancelled");
    };
    const timer = setTimeout(() => {
      end(`no answer within ${timeout_ms / 1000} seconds`);
    }, timeout_ms);
    signal?.addEventListener("abort", cancel, { once: true });
    const settle = (succeeded: boolean, problem: string): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
      resolve({ succeeded, output, problem });
    };
    child.on("error", (error) => {
      settle(false, error.message);
    });
    // Its outputs close when nobody holds them any more, which may be a child that outlives it.
    child.on("exit", (code) => {
      const grace = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, GRACE_MS);
      child.on("close", () => {
        clearTimeout(grace);
        settle(code === 0 && reason === "", reason || `${output}\n${errors}`.trim() || `exit code ${code ?? "unknown"}`);
      });
    });
  });
}

function endTree(child: ChildProcess): void {
  if (child.pid === undefined) {
    return;
  }
  if (process.platform === "win32") {
    spawn("taskkill", ["/T", "/F", "/PID", String(child.pid)], { stdio: "ignore", windowsHide: true }).on("error", () => {
      child.kill("SIGKILL");
    });
    return;
  }
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
