/** Where coding agents keep their sessions: the editor looks whether there are any before it starts the server. */

import rules from "./agents.json";

/** Where an agent's sessions are; a test of the server compares what the rules say with what it reads. */
interface Rule {
  readonly agent: string;
  /** The environment variable that names the agent's folder. */
  readonly variable: string;
  /** That folder below the home directory when the variable is not set; without it the next rule counts. */
  readonly home?: string;
  /** The folders with sessions below that. */
  readonly folders: readonly string[];
}

/** Return the folders below which the sessions of all agents are, whether they exist or not. */
export function sessionRoots(environment: Readonly<Record<string, string | undefined>>, home: string): readonly string[] {
  const found = new Map<string, readonly string[]>();
  for (const rule of rules as readonly Rule[]) {
    const chosen = environment[rule.variable] ?? "";
    const root = chosen === "" ? rule.home === undefined ? undefined : below(home, rule.home) : chosen.replace(/^~(?=$|[/\\])/, () => home);
    if (root !== undefined && !found.has(rule.agent)) {
      found.set(rule.agent, rule.folders.map((folder) => below(root, folder)));
    }
  }
  return [...found.values()].flat();
}

function below(folder: string, name: string): string {
  return name === "" ? folder : `${folder}/${name}`;
}
