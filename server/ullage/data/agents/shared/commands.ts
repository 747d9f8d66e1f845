/** Our command line inside an agent: which commands there are, and what one of them says. */
import { execFile } from "node:child_process";
import { serviceCommand } from "./client.ts";

/** A checkpoint of a large session takes a while; chosen. */
const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 1_000_000;

interface CommandLine {
  words: readonly string[];
  /** Whether what the user typed behind it is an argument. */
  takesRest?: true;
  /** What stands there where nothing was typed. */
  bare?: readonly string[];
}

/** By the names that users type. None of them asks a question, or changes a session. */
const COMMANDS = {
  status: { words: ["context", "status"] },
  history: { words: ["context", "history"] },
  checkpoint: { words: ["checkpoint", "write"] },
  checkpoints: { words: ["checkpoint", "list"] },
  restore: { words: ["checkpoint", "restore"], takesRest: true },
  prune: { words: ["prune", "--dry-run"] },
  pin: { words: ["pin"], takesRest: true, bare: ["--list"] },
} as const satisfies Record<string, CommandLine>;

export type CommandName = keyof typeof COMMANDS;

export const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

export interface Outcome {
  isDone: boolean;
  /** What it printed, or why it did nothing. */
  text: string;
}

/** Part what the user typed behind `/ullage` into the command and the rest; alone it is `status`. */
export function parseCommand(typed: string): { name: string; rest: string } {
  const [name = "", ...rest] = typed.trim().split(/\s+/);
  return { name: name === "" ? "status" : name, rest: rest.join(" ") };
}

export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

/** Run a command for a session, which its file or its id names. */
export async function runCommand(name: CommandName, rest: string, session: string, cwd: string): Promise<Outcome> {
  const { words, takesRest, bare }: CommandLine = COMMANDS[name];
  const [program = "", ...args] = serviceCommand().slice(0, -1); // without its last word, `agent`
  const given = rest === "" ? (bare ?? []) : takesRest === true ? ["--", rest] : [];
  return await new Promise((resolve) => {
    execFile(
      program,
      [...args, ...words, "--session", session, ...given],
      // By the project's folder the configuration is chosen.
      { cwd, env: { ...process.env, NO_COLOR: "1", PYTHONUTF8: "1" }, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES },
      (error, stdout, stderr) => {
        const told = stderr.trim();
        const text = error === null ? [stdout.trim(), told].filter((part) => part !== "").join("\n") : told;
        resolve({ isDone: error === null, text: text === "" ? (error?.message ?? "") : text });
      },
    );
  });
}
