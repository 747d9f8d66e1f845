/** A private environment for the server, made of the package that the extension carries. */

import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Interpreter } from "./model/interpreter";
import { runProgram, type Ended } from "./processes";

/** Chosen: a slow disk with a virus scanner, and a slow line; who has had enough before cancels. */
const STEP_TIMEOUT_MS = 600_000;
/** Written last: an environment without it was never finished. */
const FINISHED_FILE = "finished";
/** Chosen: no installation takes as long, so an unfinished one of that age was left by a window that was closed. */
const ABANDONED_MS = 2 * STEP_TIMEOUT_MS;

/** Where the extension keeps what is its own. */
export interface OwnPlaces {
  /** What was installed; it never changes. */
  readonly extensionFolder: string;
  /** What the extension may write: the same for all windows and versions. */
  readonly storageFolder: string;
  /** The extension's version, which is the server's. */
  readonly version: string;
}

/** Why an environment was not made; each asks something else of the user. */
export type InstallationProblem = "cancelled" | "package" | "environment" | "ensurepip" | "network" | "install";

export class InstallationError extends Error {
  constructor(
    readonly problem: InstallationProblem,
    /** What the program that failed has said. */
    readonly details: string,
  ) {
    super(`${problem}: ${details}`);
  }
}

export type InstallationStep = "environment" | "libraries";

/** Return the interpreter of the environment that was made for this version, or undefined. */
export async function privateInterpreter(own: OwnPlaces): Promise<Interpreter | undefined> {
  for (const folder of await environments(own, prefixOf(own.version))) {
    if (await isThere(path.join(folder, FINISHED_FILE))) {
      return interpreterIn(folder);
    }
  }
  return undefined;
}

/**
 * Make an environment with the server in it. Until it is finished nobody uses it; when it fails nothing of it stays.
 *
 * @throws InstallationError
 */
export async function install(
  own: OwnPlaces,
  base: Interpreter,
  { report, signal }: { report: (step: InstallationStep, line: string) => void; signal: AbortSignal },
): Promise<void> {
  const wheel = await bundledWheel(own);
  await mkdir(own.storageFolder, { recursive: true });
  await removeAbandoned(own);
  const folder = await mkdtemp(path.join(own.storageFolder, prefixOf(own.version)));
  try {
    const inFolder = { cwd: own.storageFolder, env: pythonEnvironment(), timeout_ms: STEP_TIMEOUT_MS, signal };
    report("environment", "");
    const made = await runProgram(base, ["-m", "venv", folder], inFolder);
    stopWhen(signal);
    const onLine = (line: string): void => {
      report("libraries", line);
    };
    const installed = made.succeeded
      ? await runProgram(
          interpreterIn(folder),
          ["-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--prefer-binary", "--no-warn-script-location", wheel],
          { ...inFolder, onLine },
        )
      : await installWithUv(base, folder, wheel, made, { ...inFolder, onLine });
    stopWhen(signal);
    if (!installed.succeeded) {
      throw new InstallationError(isNetworkProblem(installed.problem) ? "network" : "install", installed.problem);
    }
    await writeFile(path.join(folder, FINISHED_FILE), `${own.version}\n`);
  } catch (error) {
    await remove(folder);
    throw error;
  }
  await removeAllBut(own, folder);
}

/** Return the environment variables that Python is run with: the folder that it is run in holds no modules. */
export function pythonEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, PYTHONSAFEPATH: "1" };
}

/** The package that `npm run package` has put into the extension. */
async function bundledWheel(own: OwnPlaces): Promise<string> {
  const folder = path.join(own.extensionFolder, "bundled");
  const names = await readdir(folder).catch(() => []);
  const name = names.find((entry) => entry.startsWith(`ullage-${own.version}-`) && entry.endsWith(".whl"));
  if (name === undefined) {
    throw new InstallationError("package", folder);
  }
  return path.join(folder, name);
}

/** Debian leaves out what `venv` needs; uv needs nothing of it. */
async function installWithUv(
  base: Interpreter,
  folder: string,
  wheel: string,
  venv: Ended,
  options: Parameters<typeof runProgram>[2],
): Promise<Ended> {
  const uv: Interpreter = { command: "uv", args: [] };
  const executable = await runProgram(base, ["-c", "import sys; print(sys.executable)"], { ...options, onLine: () => undefined });
  const made = await runProgram(uv, ["venv", "--allow-existing", "--python", executable.output.trim(), folder], options);
  if (!made.succeeded) {
    // Of the two programs, the one that most users have tells them what to do.
    throw new InstallationError(venv.problem.includes("ensurepip") ? "ensurepip" : "environment", venv.problem);
  }
  return runProgram(uv, ["pip", "install", "--python", interpreterIn(folder).command, wheel], options);
}

function interpreterIn(folder: string): Interpreter {
  const command =
    process.platform === "win32" ? path.join(folder, "Scripts", "python.exe") : path.join(folder, "bin", "python");
  return { command, args: [] };
}

/** What pip (23 to 25) and uv (0.9) say when they reach no index; "none" of libraries that PyPI has, without retries. */
function isNetworkProblem(problem: string): boolean {
  return /\(from versions: none\)|NewConnectionError|ConnectTimeout|ProxyError|Max retries exceeded|Temporary failure in name resolution|Failed to fetch|Connection(?: refused| broken|Error)/i.test(
    problem,
  );
}

function prefixOf(version: string): string {
  return `server-${version}-`;
}

async function environments(own: OwnPlaces, prefix: string): Promise<string[]> {
  const names = await readdir(own.storageFolder).catch(() => []);
  return names.filter((name) => name.startsWith(prefix)).sort().map((name) => path.join(own.storageFolder, name));
}

async function removeAbandoned(own: OwnPlaces): Promise<void> {
  for (const folder of await environments(own, "server-")) {
    const info = await stat(folder).catch(() => undefined);
    const isOld = info !== undefined && Date.now() - info.mtimeMs > ABANDONED_MS;
    if (isOld && !(await isThere(path.join(folder, FINISHED_FILE)))) {
      await remove(folder);
    }
  }
}

/** Earlier versions have had their time: VS Code asks every window to reload after an update. */
async function removeAllBut(own: OwnPlaces, folder: string): Promise<void> {
  for (const other of await environments(own, "server-")) {
    if (other !== folder && (await isThere(path.join(other, FINISHED_FILE)))) {
      await remove(other);
    }
  }
}

/** What another process holds open (Windows) stays until the next installation. */
async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }).catch(() => undefined);
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

function stopWhen(signal: AbortSignal): void {
  if (signal.aborted) {
    throw new InstallationError("cancelled", "");
  }
}
