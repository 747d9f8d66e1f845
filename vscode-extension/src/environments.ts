/**
 * The private environments of the server: which there are, which of them is used, and which may go.
 *
 * All windows and versions share one folder. Each window notes which environment its server runs in, so that none is
 * removed from under a server: what nobody uses any more goes at the next start.
 */

import { mkdtemp, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Interpreter } from "./model/interpreter";

const ENVIRONMENT_PREFIX = "server-";
/** Written last: an environment without it was never finished. */
const FINISHED_FILE = "finished";
/** Followed by the number of the process whose server runs in the environment. */
const USED_PREFIX = "used-by-";
/** Chosen: no installation takes as long. What is younger may be one that still runs, or whose window starts just now. */
const SPARED_MS = 1_200_000;

/** Where the extension keeps what is its own. */
export interface OwnPlaces {
  /** What was installed; it never changes. */
  readonly extensionFolder: string;
  /** What the extension may write: the same for all windows and versions. */
  readonly storageFolder: string;
  /** The extension's version, which is the server's. */
  readonly version: string;
}

/** Return the interpreter of the environment that was made last for this version, or undefined. */
export async function privateInterpreter(own: OwnPlaces): Promise<Interpreter | undefined> {
  let newest: { readonly folder: string; readonly finished_ms: number } | undefined;
  for (const folder of await environments(own, prefixOf(own.version))) {
    const finished_ms = await changed_ms(path.join(folder, FINISHED_FILE));
    if (finished_ms !== undefined && (newest === undefined || finished_ms > newest.finished_ms)) {
      newest = { folder, finished_ms };
    }
  }
  return newest && interpreterIn(newest.folder);
}

/** Make the folder of an environment that nobody uses until it is finished. */
export async function newEnvironment(own: OwnPlaces): Promise<string> {
  await mkdir(own.storageFolder, { recursive: true });
  return mkdtemp(path.join(own.storageFolder, prefixOf(own.version)));
}

export async function finish(folder: string, { version }: OwnPlaces): Promise<void> {
  await writeFile(path.join(folder, FINISHED_FILE), `${version}\n`);
}

/** Note that the server of a process runs in the environment of an interpreter, and in no other one. */
export async function takeIntoUse(own: OwnPlaces, interpreter: Interpreter, pid: number): Promise<void> {
  const name = `${USED_PREFIX}${pid}`;
  const used = path.dirname(path.dirname(interpreter.command));
  // On a full disk the server starts all the same, and nothing is removed while it runs but by another window's start.
  await writeFile(path.join(used, name), "").catch(() => undefined);
  for (const folder of await environments(own, ENVIRONMENT_PREFIX)) {
    if (folder !== used) {
      await rm(path.join(folder, name), { force: true });
    }
  }
}

/** Remove the environments that no running process uses, and what is left of installations that ended midway. */
export async function removeUnused(own: OwnPlaces): Promise<void> {
  for (const folder of await environments(own, ENVIRONMENT_PREFIX)) {
    const since_ms = (await changed_ms(path.join(folder, FINISHED_FILE))) ?? (await changed_ms(folder)) ?? Date.now();
    if (Date.now() - since_ms > SPARED_MS && !(await isUsed(folder))) {
      await remove(folder);
    }
  }
}

/** What another process holds open (Windows) stays until the next start. */
export async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }).catch(() => undefined);
}

export function interpreterIn(folder: string): Interpreter {
  const command =
    process.platform === "win32" ? path.join(folder, "Scripts", "python.exe") : path.join(folder, "bin", "python");
  return { command, args: [] };
}

function prefixOf(version: string): string {
  return `${ENVIRONMENT_PREFIX}${version}-`;
}

async function environments(own: OwnPlaces, prefix: string): Promise<string[]> {
  const names = await readdir(own.storageFolder).catch(() => []);
  return names.filter((name) => name.startsWith(prefix)).map((name) => path.join(own.storageFolder, name));
}

async function isUsed(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  return names.some((name) => name.startsWith(USED_PREFIX) && isRunning(Number(name.slice(USED_PREFIX.length))));
}

/** A number that the system has given to another process meanwhile keeps an environment longer: no harm. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It runs, and is another user's.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

async function changed_ms(file: string): Promise<number | undefined> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
}
