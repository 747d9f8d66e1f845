/** Which Python interpreters may run the server, and in which order they are tried. */

export interface Interpreter {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * Return the interpreters to try, the best first.
 *
 * A setting is decisive: a wrong one is reported instead of being passed over for another interpreter.
 */
export function interpreterCandidates(setting: string, platform: string): readonly Interpreter[] {
  if (setting !== "") {
    return [{ command: setting, args: [] }];
  }
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

/** Replace a leading `~` and every `${workspaceFolder}`; a folder that is not known stays as it is written. */
export function expandPath(setting: string, home: string, workspaceFolder: string | undefined): string {
  const path = setting.trim().replace(/^~(?=$|[/\\])/, () => home);
  return workspaceFolder === undefined ? path : path.replaceAll("${workspaceFolder}", () => workspaceFolder);
}

/** Return the command line as a person would type it. */
export function commandLine(interpreter: Interpreter): string {
  return [interpreter.command, ...interpreter.args]
    .map((word) => (/\s/.test(word) ? `"${word}"` : word))
    .join(" ");
}
