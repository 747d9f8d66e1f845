/** Which Python interpreters may run the server, in which order they are tried, and what each has to say. */

export interface Interpreter {
  readonly command: string;
  readonly args: readonly string[];
}

/** What an interpreter says of itself. */
export interface Answer {
  /** Of Python: `3.12.1`. */
  readonly python: string;
  /** Of the server's package; null where it cannot be imported. */
  readonly server: string | null;
  /** Why it cannot be imported; "" where it can. */
  readonly problem: string;
  /** Of its program; "" where it does not know that. */
  readonly path: string;
}

/** The oldest Python that the server runs on, as its `pyproject.toml` says; a test compares them. */
export const OLDEST_PYTHON = "3.11";

/** Prints an `Answer` as JSON, in words that Python 2 understands too. */
export const QUESTION = [
  "import json, sys",
  "server, problem = None, ''",
  "try:",
  "    import ullage",
  "    from importlib.metadata import version",
  "    server = version('ullage')",
  "except Exception as error:",
  "    problem = type(error).__name__ + ': ' + str(error)",
  "python = '.'.join(str(number) for number in sys.version_info[:3])",
  "print(json.dumps({'python': python, 'server': server, 'problem': problem, 'path': sys.executable or ''}))",
].join("\n");

/** Return the interpreters on the `PATH` that are tried, the best first. */
export function pathInterpreters(platform: string): readonly Interpreter[] {
  if (platform === "win32") {
    return [
      { command: "py", args: ["-3"] },
      { command: "python", args: [] },
    ];
  }
  return [
    { command: "python3", args: [] },
    { command: "python", args: [] },
  ];
}

/** Return further interpreters that an environment can be made with, where those before are too old. */
export function newerInterpreters(platform: string): readonly Interpreter[] {
  const versions = ["3.14", "3.13", "3.12", "3.11"];
  return versions.map((version) =>
    platform === "win32" ? { command: "py", args: [`-${version}`] } : { command: `python${version}`, args: [] },
  );
}

/** Read what an interpreter printed; what stands before the last line came from its own start. */
export function parseAnswer(output: string): Answer | undefined {
  let value: unknown;
  try {
    value = JSON.parse(output.trim().split("\n").at(-1) ?? "");
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || !("python" in value) || !("server" in value)) {
    return undefined;
  }
  const { python, server } = value;
  const problem = "problem" in value && typeof value.problem === "string" ? value.problem : "";
  const path = "path" in value && typeof value.path === "string" ? value.path : "";
  return typeof python === "string" && (typeof server === "string" || server === null)
    ? { python, server, problem, path }
    : undefined;
}

/** Name a Python that was found, once where several names lead to it: `Python 3.9.18 at /usr/bin/python3`. */
export function foundText(answers: readonly Answer[]): string {
  return [...new Set(answers.map(({ python, path }) => (path === "" ? `Python ${python}` : `Python ${python} at ${path}`)))].join(", ");
}

export function isPythonNewEnough(python: string): boolean {
  return compareVersions(python, OLDEST_PYTHON) >= 0;
}

/** Return whether a server speaks this extension's protocol: it changes with the second number of the version. */
export function isServerCompatible(server: string, extension: string): boolean {
  const [major, minor] = numbersOf(extension);
  const [serverMajor, serverMinor] = numbersOf(server);
  return major === serverMajor && minor === serverMinor;
}

/**
 * Return the path that a setting names: a leading `~` and every `${workspaceFolder}` are replaced, and what is relative
 * is below the workspace folder. A name without a separator is looked for on the `PATH`.
 *
 * Undefined where that is a file of a folder that is not known or not trusted.
 */
export function interpreterPath(setting: string, home: string, trustedFolder: string | undefined): string | undefined {
  const path = setting.trim().replace(/^~(?=$|[/\\])/, () => home);
  const isRelative = /[/\\]/.test(path) && !/^(?:[~/\\]|[A-Za-z]:|\$\{workspaceFolder\})/.test(path);
  if (!isRelative && !path.includes("${workspaceFolder}")) {
    return path;
  }
  return trustedFolder && (isRelative ? `${trustedFolder}/${path}` : path).replaceAll("${workspaceFolder}", () => trustedFolder);
}

/** Return the command line as a person would type it. */
export function commandLine(interpreter: Interpreter): string {
  return [interpreter.command, ...interpreter.args]
    .map((word) => (/\s/.test(word) ? `"${word}"` : word))
    .join(" ");
}

function compareVersions(one: string, other: string): number {
  const [major, minor] = numbersOf(one);
  const [otherMajor, otherMinor] = numbersOf(other);
  return major === otherMajor ? minor - otherMinor : major - otherMajor;
}

function numbersOf(version: string): readonly [number, number] {
  const [major, minor] = version.split(".");
  return [Number.parseInt(major ?? "", 10), Number.parseInt(minor ?? "", 10)];
}
