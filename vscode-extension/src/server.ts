/** Finds the Python interpreter that has the server, and says how the server is started. */

import { execFile } from "node:child_process";
import * as vscode from "vscode";
import type { Executable } from "vscode-languageclient/node";
import { errorMessage, type Logger } from "./logger";
import { commandLine, interpreterCandidates, type Interpreter } from "./model/interpreter";

/** Chosen: a first import on a cold disk, with a virus scanner looking on, takes seconds. */
const PROBE_TIMEOUT_MS = 15_000;

/** No interpreter can run the server; the message says what to do. */
export class NoInterpreterError extends Error {}

/**
 * Return how to start the server.
 *
 * `directory` becomes the working directory of Python, which looks for modules there before PYTHONSAFEPATH came
 * with 3.11. It must not be the workspace: an `ullage.py` in there would be run instead of the server.
 *
 * @throws NoInterpreterError
 */
export async function findServer(setting: string, directory: string, logger: Logger): Promise<Executable> {
  const candidates = interpreterCandidates(setting, process.platform);
  const environment = { ...process.env, PYTHONSAFEPATH: "1" };
  for (const interpreter of candidates) {
    const problem = await probe(interpreter, directory, environment);
    if (problem === undefined) {
      logger.info(`Using the interpreter ${commandLine(interpreter)}`);
      return {
        command: interpreter.command,
        args: [...interpreter.args, "-m", "ullage", "lsp"],
        options: { cwd: directory, env: environment },
      };
    }
    logger.warn(`The interpreter ${commandLine(interpreter)} cannot import ullage: ${problem}`);
  }
  throw new NoInterpreterError(noInterpreterMessage(setting, candidates));
}

/** Return why an interpreter cannot import the server's package, or undefined when it can. */
async function probe(interpreter: Interpreter, cwd: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(
      interpreter.command,
      [...interpreter.args, "-c", "import ullage"],
      { cwd, env, timeout: PROBE_TIMEOUT_MS, killSignal: "SIGKILL", windowsHide: true },
      (error, _stdout, stderr) => {
        if (error === null) {
          resolve(undefined);
        } else if (error.killed === true) {
          resolve(`no answer within ${PROBE_TIMEOUT_MS / 1000} seconds`);
        } else {
          const lastLine = stderr.trim().split("\n").at(-1) ?? "";
          resolve(lastLine === "" ? errorMessage(error) : lastLine);
        }
      },
    );
  });
}

function noInterpreterMessage(setting: string, candidates: readonly Interpreter[]): string {
  if (setting !== "") {
    return vscode.l10n.t(
      "Ullage cannot start: the Python interpreter \"{0}\" of the setting ullage.interpreter does not run or does not have the package ullage. Install the package there (pip install ullage), or choose another interpreter.",
      setting,
    );
  }
  return vscode.l10n.t(
    "Ullage cannot start: no Python with the package ullage was found (tried {0}). Install it (pip install ullage), or say in the setting ullage.interpreter which Python has it.",
    candidates.map(commandLine).join(", "),
  );
}
