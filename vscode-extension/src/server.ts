/** Finds the Python interpreter that has the server, and says how the server is started. */

import * as vscode from "vscode";
import type { Executable } from "vscode-languageclient/node";
import { privateInterpreter, removeUnused, takeIntoUse, type OwnPlaces } from "./environments";
import { privateEnvironment, pythonEnvironment } from "./installation";
import { errorMessage, type Logger } from "./logger";
import {
  commandLine,
  foundText,
  isPythonNewEnough,
  isServerCompatible,
  newerInterpreters,
  OLDEST_PYTHON,
  parseAnswer,
  pathInterpreters,
  QUESTION,
  type Answer,
  type Interpreter,
} from "./model/interpreter";
import { runProgram } from "./processes";

/** Chosen: a first import on a cold disk, with a virus scanner looking on, takes seconds. */
const PROBE_TIMEOUT_MS = 15_000;
/** Chosen: the other extension may have much to do at its own start; ours does not wait for all of it. */
const PYTHON_EXTENSION_TIMEOUT_MS = 5_000;

/** A Python that an environment for the server can be made with. */
export interface Base {
  readonly interpreter: Interpreter;
  readonly python: string;
}

/** No interpreter can run the server; the message says what to do. */
export class NoServerError extends Error {
  constructor(
    message: string,
    /** What was found instead, and where. */
    readonly found: string,
  ) {
    super(message);
  }
}

/** No interpreter has the server, and the user has chosen none. */
export class NotInstalledError extends NoServerError {
  constructor(
    message: string,
    /** What it can be installed with; undefined where this machine has no Python for it. */
    readonly base: Base | undefined,
    /** The Pythons that are too old for it. */
    found: string,
  ) {
    super(message, found);
  }
}

/**
 * Return how to start the server.
 *
 * The interpreter of the setting is decisive. Without one, the first that has a server for this version is taken: our
 * own environment, the one that the Python extension has active, those on the `PATH`.
 *
 * @throws NoServerError
 */
export async function findServer(setting: string, own: OwnPlaces, logger: Logger): Promise<Executable> {
  if (setting !== "") {
    return chosenServer({ command: setting, args: [] }, own, logger);
  }
  const ours = await privateInterpreter(own);
  if (ours !== undefined && hasServer(await ask(ours, own, logger), own)) {
    await takeIntoUse(own, ours, process.pid);
    // Not awaited: to remove thousands of files takes its time.
    void removeUnused(own);
    return executable(ours, own, logger);
  }
  const active = await activeInterpreter(logger);
  if (active !== undefined && hasServer(await ask(active, own, logger), own)) {
    return executable(active, own, logger);
  }
  for (const interpreter of pathInterpreters(process.platform)) {
    if (hasServer(await ask(interpreter, own, logger), own)) {
      return executable(interpreter, own, logger);
    }
  }
  throw await notInstalled(own, logger);
}

/** Look for what the server can be installed with; the error says what that is, or what was found instead. */
export async function notInstalled(own: OwnPlaces, logger: Logger): Promise<NotInstalledError> {
  const tooOld: Answer[] = [];
  for (const interpreter of [...pathInterpreters(process.platform), ...newerInterpreters(process.platform)]) {
    const answer = await ask(interpreter, own, logger);
    if (answer !== undefined && isPythonNewEnough(answer.python)) {
      const base = { interpreter, python: answer.python };
      return new NotInstalledError(notInstalledMessage(base), base, "");
    }
    tooOld.push(...(answer === undefined ? [] : [answer]));
  }
  const found = tooOld.length === 0 ? vscode.l10n.t("No Python is on the PATH") : vscode.l10n.t("Found {0}", foundText(tooOld));
  return new NotInstalledError(noPythonMessage(found), undefined, found);
}

function noPythonMessage(found: string): string {
  return vscode.l10n.t(
    "{0}; Ullage needs {1} or newer. Install that, then run \"Context: Restart Server\"; or choose the interpreter, if it is elsewhere.",
    found,
    OLDEST_PYTHON,
  );
}

async function chosenServer(interpreter: Interpreter, own: OwnPlaces, logger: Logger): Promise<Executable> {
  const answer = await ask(interpreter, own, logger);
  const found = whyUnfit(interpreter, answer, own);
  if (found !== undefined) {
    throw new NoServerError(
      vscode.l10n.t(
        "Ullage cannot start with the setting ullage.interpreter: {0}. Choose another interpreter; or empty the setting, and run \"Context: Install Server\".",
        found,
      ),
      found,
    );
  }
  return executable(interpreter, own, logger);
}

/** Return why an interpreter cannot run the server: what it is, where, and what is wanted; undefined where it can. */
function whyUnfit({ command }: Interpreter, answer: Answer | undefined, { version }: OwnPlaces): string | undefined {
  if (answer === undefined) {
    return vscode.l10n.t("no Python runs at {0}", command);
  }
  const python = foundText([answer]);
  if (!isPythonNewEnough(answer.python)) {
    return vscode.l10n.t("{0} is too old, {1} or newer is needed", python, OLDEST_PYTHON);
  }
  if (answer.server === null) {
    return vscode.l10n.t("{0} does not have the package ullage", python);
  }
  return isServerCompatible(answer.server, version)
    ? undefined
    : vscode.l10n.t("{0} has ullage {1}, and this extension needs {2}", python, answer.server, version);
}

/**
 * Return how the server is started.
 *
 * The extension's own folder becomes the working directory of Python, which looks for modules there before
 * PYTHONSAFEPATH came with 3.11. It must not be the workspace: an `ullage.py` in there would be run.
 */
function executable(interpreter: Interpreter, own: OwnPlaces, logger: Logger): Executable {
  logger.info(`Using the interpreter ${commandLine(interpreter)}`);
  return {
    command: interpreter.command,
    args: [...interpreter.args, "-m", "ullage", "lsp"],
    options: { cwd: own.extensionFolder, env: environmentFor(interpreter, own) },
  };
}

/** What the user has set for other Pythons would lead ours astray. */
function environmentFor({ command }: Interpreter, own: OwnPlaces): NodeJS.ProcessEnv {
  return command.startsWith(own.storageFolder) ? privateEnvironment() : pythonEnvironment();
}

function hasServer(answer: Answer | undefined, own: OwnPlaces): boolean {
  return typeof answer?.server === "string" && isServerCompatible(answer.server, own.version);
}

/** Return what an interpreter says of itself, or undefined when it does not run. What is missing is logged. */
async function ask(interpreter: Interpreter, own: OwnPlaces, logger: Logger): Promise<Answer | undefined> {
  const { succeeded, output, problem } = await runProgram(interpreter, ["-c", QUESTION], {
    cwd: own.extensionFolder,
    env: environmentFor(interpreter, own),
    timeout_ms: PROBE_TIMEOUT_MS,
  });
  const answer = succeeded ? parseAnswer(output) : undefined;
  if (answer === undefined) {
    logger.info(`The interpreter ${commandLine(interpreter)} does not run: ${problem.split("\n").at(-1) ?? ""}`);
  } else if (answer.server === null) {
    logger.info(`The interpreter ${commandLine(interpreter)} (${answer.python}) cannot import ullage: ${answer.problem}`);
  } else if (!isServerCompatible(answer.server, own.version)) {
    logger.warn(
      `The interpreter ${commandLine(interpreter)} has ullage ${answer.server}, which does not fit version ${own.version} of the extension`,
    );
  }
  return answer;
}

/** The part of the Python extension's interface that we use, where that extension is installed. */
interface PythonExtension {
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(path: {
      readonly path: string;
    }): Promise<{ readonly executable: { readonly uri?: vscode.Uri | undefined } } | undefined>;
  };
}

/** Return the interpreter that the Python extension has active. It may be the workspace's, so trust is asked for. */
async function activeInterpreter(logger: Logger): Promise<Interpreter | undefined> {
  const extension = vscode.extensions.getExtension<Partial<PythonExtension>>("ms-python.python");
  if (extension === undefined || !vscode.workspace.isTrusted) {
    return undefined;
  }
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      resolve(undefined);
    }, PYTHON_EXTENSION_TIMEOUT_MS);
  });
  const find = async (): Promise<Interpreter | undefined> => {
    const { environments } = await extension.activate();
    const resource = vscode.workspace.workspaceFolders?.[0]?.uri;
    const found = await environments?.resolveEnvironment(environments.getActiveEnvironmentPath(resource));
    const uri = found?.executable.uri;
    return uri === undefined ? undefined : { command: uri.fsPath, args: [] };
  };
  try {
    return await Promise.race([find(), tooLate]);
  } catch (error) {
    logger.info(`The Python extension names no interpreter: ${errorMessage(error)}`);
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

function notInstalledMessage(base: Base): string {
  return vscode.l10n.t(
    "Ullage reads sessions with a server written in Python. Install it? It gets an environment of its own, made with Python {0}, and its libraries come from PyPI (about 100 MB on disk).",
    base.python,
  );
}
