/** A private environment for the server, made of the package that the extension carries. */

import { readdir } from "node:fs/promises";
import path from "node:path";
import { finish, interpreterIn, newEnvironment, remove, type OwnPlaces } from "./environments";
import { isServerCompatible, parseAnswer, QUESTION, type Interpreter } from "./model/interpreter";
import { runProgram, type Ended } from "./processes";

/** Chosen: a slow disk with a virus scanner, and a slow line; who has had enough before cancels. */
const STEP_TIMEOUT_MS = 600_000;

/** Why an environment was not made; each asks something else of the user. */
export type InstallationProblem = "cancelled" | "package" | "storage" | "environment" | "ensurepip" | "network" | "install";

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
  const folder = await newEnvironment(own).catch((error: unknown) => {
    throw new InstallationError("storage", error instanceof Error ? error.message : String(error));
  });
  try {
    const inFolder = { cwd: own.storageFolder, env: privateEnvironment(), timeout_ms: STEP_TIMEOUT_MS, signal };
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
    // Somebody's configuration of pip may have put it elsewhere.
    const asked = await runProgram(interpreterIn(folder), ["-c", QUESTION], inFolder);
    stopWhen(signal);
    const answer = asked.succeeded ? parseAnswer(asked.output) : undefined;
    if (typeof answer?.server !== "string" || !isServerCompatible(answer.server, own.version)) {
      throw new InstallationError("install", answer?.problem ?? asked.problem);
    }
    await finish(folder, own);
  } catch (error) {
    await remove(folder);
    throw error;
  }
}

/** Return the environment variables that Python is run with: the folder that it is run in holds no modules. */
export function pythonEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, PYTHONSAFEPATH: "1" };
}

/** What would make pip or Python of an environment look elsewhere than into it. */
const ELSEWHERE = ["PYTHONHOME", "PYTHONPATH", "PIP_PREFIX", "PIP_ROOT", "PIP_TARGET", "PIP_USER"];

/** Return the environment variables that the Python of our own environment is run with; Windows writes names as it likes. */
export function privateEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(pythonEnvironment()).filter(([name]) => !ELSEWHERE.includes(name.toUpperCase()));
  return Object.fromEntries(kept);
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

/** What pip (23 to 25) and uv (0.9) say when they reach no index; "none" of libraries that PyPI has, without retries. */
function isNetworkProblem(problem: string): boolean {
  return /\(from versions: none\)|NewConnectionError|ConnectTimeout|ProxyError|Max retries exceeded|Temporary failure in name resolution|Failed to fetch|Connection(?: refused| broken|Error)/i.test(
    problem,
  );
}

function stopWhen(signal: AbortSignal): void {
  if (signal.aborted) {
    throw new InstallationError("cancelled", "");
  }
}
