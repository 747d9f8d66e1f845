import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { privateInterpreter, removeUnused, takeIntoUse, type OwnPlaces } from "../../src/environments";
import { install, InstallationError } from "../../src/installation";
import type { Interpreter } from "../../src/model/interpreter";

/** The interpreters are scripts that do what Python does in the one case that a test is about. */
const skip = process.platform === "win32" ? "the interpreters of these tests are shell scripts" : false;

const HAS_SERVER = '{"python": "3.12.1", "server": "1.2.9", "problem": ""}';

/** The interpreter of the environment runs `pip`, and says `answer` of itself. */
const MAKES_ENVIRONMENT = (pip: string, answer = "$ANSWER"): string =>
  `if [ "$2" = venv ]; then mkdir -p "$3/bin"; printf '%s\\n' '#!/bin/sh' 'if [ "$1" = -c ]; then echo "${answer}"; exit; fi' '${pip}' >"$3/bin/python"; chmod +x "$3/bin/python"; fi`;

function given(context: TestContext, script: string): { own: OwnPlaces; base: Interpreter; storage: () => string[] } {
  const root = mkdtempSync(path.join(tmpdir(), "ullage-install-"));
  context.after(() => {
    rmSync(root, { recursive: true, force: true });
  });
  const own = { extensionFolder: path.join(root, "extension"), storageFolder: path.join(root, "storage"), version: "1.2.3" };
  mkdirSync(path.join(own.extensionFolder, "bundled"), { recursive: true });
  writeFileSync(path.join(own.extensionFolder, "bundled", "ullage-1.2.3-py3-none-any.whl"), "");
  const command = path.join(root, "python3");
  writeFileSync(command, `#!/bin/sh\n${script}\n`);
  chmodSync(command, 0o755);
  // So that the uv of the machine is not found.
  const variables = process.env["PATH"];
  process.env["PATH"] = "/usr/bin:/bin";
  process.env["ANSWER"] = HAS_SERVER;
  context.after(() => {
    process.env["PATH"] = variables;
    delete process.env["ANSWER"];
  });
  return {
    own,
    base: { command, args: [] },
    storage: () => (existsSync(own.storageFolder) ? readdirSync(own.storageFolder) : []),
  };
}

const quiet = (): { report: () => void; signal: AbortSignal } => ({
  report: () => undefined,
  signal: new AbortController().signal,
});

const fails = (problem: string) => (error: unknown) => error instanceof InstallationError && error.problem === problem;

test("a finished environment is found, and only for its own version", { skip }, async (context) => {
  const { own, base, storage } = given(context, MAKES_ENVIRONMENT("exit 0"));
  assert.equal(await privateInterpreter(own), undefined);
  await install(own, base, quiet());
  const interpreter = await privateInterpreter(own);
  assert.equal(interpreter?.command, path.join(own.storageFolder, storage()[0] ?? "", "bin/python"));
  assert.equal(await privateInterpreter({ ...own, version: "1.2.4" }), undefined);
});

test("pip is given the package that the extension carries", { skip }, async (context) => {
  const { own, base } = given(context, MAKES_ENVIRONMENT('echo "$@"'));
  const lines: string[] = [];
  await install(own, base, { ...quiet(), report: (_step, line) => lines.push(line) });
  assert.match(lines.join(" "), /-m pip install .*bundled\/ullage-1\.2\.3-py3-none-any\.whl/);
});

/** The number of no process: Linux and macOS count to 4,194,304 at most. */
const NOBODY = 99_999_999;

function age(folder: string): void {
  const hourAgo = new Date(Date.now() - 3_600_000);
  utimesSync(path.join(folder, "finished"), hourAgo, hourAgo);
}

test("what was installed last is used, and what nobody uses goes at a later start", { skip }, async (context) => {
  const { own, base, storage } = given(context, MAKES_ENVIRONMENT("exit 0"));
  await install(own, base, quiet());
  const first = storage()[0] ?? "";
  age(path.join(own.storageFolder, first));
  await install(own, base, quiet());
  const interpreter = await privateInterpreter(own);
  assert.ok(interpreter !== undefined && !interpreter.command.includes(first));
  assert.equal(storage().length, 2);
  await takeIntoUse(own, interpreter, process.pid);
  await removeUnused(own);
  assert.deepEqual(storage().filter((name) => name === first), []);
  assert.equal(storage().length, 1);
});

test("an environment stays while any window's server runs in it, whatever its version", { skip }, async (context) => {
  const { own, base, storage } = given(context, MAKES_ENVIRONMENT("exit 0"));
  await install(own, base, quiet());
  const old = await privateInterpreter(own);
  assert.ok(old !== undefined);
  age(path.dirname(path.dirname(old.command)));
  await takeIntoUse(own, old, process.pid);
  await takeIntoUse(own, old, NOBODY);
  const newer = { ...own, version: "1.3.0" };
  process.env["ANSWER"] = HAS_SERVER.replace("1.2.9", "1.3.0");
  await removeUnused(newer);
  assert.equal(storage().length, 1);

  writeFileSync(path.join(own.extensionFolder, "bundled", "ullage-1.3.0-py3-none-any.whl"), "");
  await install(newer, base, quiet());
  const next = await privateInterpreter(newer);
  assert.ok(next !== undefined);
  await takeIntoUse(newer, next, process.pid);
  await removeUnused(newer);
  assert.deepEqual(storage().map((name) => name.slice(0, -6)), ["server-1.3.0-"]);
});

test("an environment that was made just now is spared: its window has yet to start the server", { skip }, async (context) => {
  const { own, base, storage } = given(context, MAKES_ENVIRONMENT("exit 0"));
  await install(own, base, quiet());
  await removeUnused(own);
  assert.equal(storage().length, 1);
});

test("nothing stays of an installation that failed, and the one before still serves", { skip }, async (context) => {
  const { own, base, storage } = given(context, MAKES_ENVIRONMENT("exit 0"));
  await install(own, base, quiet());
  const before = storage();
  writeFileSync(base.command, `#!/bin/sh\n${MAKES_ENVIRONMENT("echo No matching distribution; exit 1")}\n`);
  await assert.rejects(install(own, base, quiet()), fails("install"));
  assert.deepEqual(storage(), before);
});

test("without ensurepip and without uv the user is told of the package that is missing", { skip }, async (context) => {
  const said = "echo 'The virtual environment was not created successfully because ensurepip is not available.'; exit 1";
  const { own, base, storage } = given(context, said);
  await assert.rejects(install(own, base, quiet()), fails("ensurepip"));
  assert.deepEqual(storage(), []);
});

test("an index that is not reached is told apart", { skip }, async (context) => {
  const { own, base } = given(context, MAKES_ENVIRONMENT('echo "$WHY" >&2; exit 1'));
  context.after(() => {
    delete process.env["WHY"];
  });
  for (const said of [
    "WARNING: Retrying after connection broken by 'NewConnectionError(Failed to establish a new connection)'",
    "ERROR: Could not find a version that satisfies the requirement msgspec>=0.20 (from versions: none)",
  ]) {
    process.env["WHY"] = said;
    await assert.rejects(install(own, base, quiet()), fails("network"));
  }
});

test("an environment that cannot import the server is not used, whatever pip has said", { skip }, async (context) => {
  for (const answer of ["{}", '{"python": "3.12.1", "server": null, "problem": "ModuleNotFoundError"}', HAS_SERVER.replace("1.2.9", "1.1.0")]) {
    const { own, base, storage } = given(context, MAKES_ENVIRONMENT("exit 0"));
    process.env["ANSWER"] = answer;
    await assert.rejects(install(own, base, quiet()), fails("install"), answer);
    assert.deepEqual(storage(), []);
  }
});

test("what the user has set for other Pythons leads neither pip nor Python astray", { skip }, async (context) => {
  const { own, base } = given(context, MAKES_ENVIRONMENT('env | grep -c -E "^(PIP_TARGET|PIP_USER|PYTHONHOME|PYTHONPATH|PIP_INDEX_URL)="'));
  const set = { PIP_TARGET: "/t", PIP_USER: "1", PYTHONHOME: "/h", PYTHONPATH: "/p", PIP_INDEX_URL: "http://127.0.0.1:1/" };
  Object.assign(process.env, set);
  context.after(() => {
    Object.keys(set).forEach((name) => Reflect.deleteProperty(process.env, name));
  });
  const lines: string[] = [];
  await install(own, base, { ...quiet(), report: (_step, line) => lines.push(line) });
  // The index alone is what pip is to be told.
  assert.deepEqual(lines.filter((line) => line !== ""), ["1"]);
});

test("a folder that takes nothing is told apart", { skip }, async (context) => {
  const { own, base } = given(context, MAKES_ENVIRONMENT("exit 0"));
  writeFileSync(own.storageFolder, "a file where the folder should be");
  await assert.rejects(install(own, base, quiet()), fails("storage"));
});

test("cancelling ends all that was started, and leaves nothing", { skip, timeout: 120_000 }, async (context) => {
  // The sleeping grandchild holds the output open: the installation only returns when it, too, has ended.
  const { own, base, storage } = given(context, MAKES_ENVIRONMENT("sleep 600 & echo Collecting $!; wait"));
  const abort = new AbortController();
  let pid: number | undefined;
  // What outlives the test would keep it from ending.
  context.after(() => {
    if (pid !== undefined && isRunning(pid)) {
      process.kill(pid, "SIGKILL");
    }
  });
  const cancel = (step: string, line: string): void => {
    if (step === "libraries" && line !== "") {
      pid = Number(line.split(" ")[1]);
      abort.abort();
    }
  };
  await assert.rejects(install(own, base, { report: cancel, signal: abort.signal }), fails("cancelled"));
  assert.ok(pid !== undefined && pid > 1);
  assert.deepEqual(storage(), []);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("an extension without the package says so before anything is made", { skip }, async (context) => {
  const { own, base, storage } = given(context, "exit 1");
  await assert.rejects(install({ ...own, version: "9.9.9" }, base, quiet()), fails("package"));
  assert.deepEqual(storage(), []);
});
