// The real Claude Code and the real pi, at work in the workspace of a window while it is open.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { asClaudeCode, claudeFolderName, session, sessionFolderName, sessionId } from "./session.mjs";
import { until } from "./workbench.mjs";

const PROGRAM = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../tests/two_agents.py");
const CLAUDE_ID = "11111111-2222-4333-8444-0000cafe0001";
const USED_TOKENS = 120_000;

/** The two sessions, by what each name of them on the screen has in it. */
export const SESSIONS = {
  "claude-code": { agent: "Claude Code", title: "Fix double charges", shortId: CLAUDE_ID.slice(-8) },
  pi: { agent: "pi / OpenClaw", title: "Checkout sometimes", shortId: sessionId(20).slice(-8) },
};

export class TwoAgents {
  nTurns = { "claude-code": 0, pi: 0 };
  #ended = undefined;

  /** Let both have a session in the workspace with a long afternoon behind it. */
  constructor({ home, workspace }) {
    this.home = home;
    this.workspace = workspace;
    this.folders = {
      "claude-code": path.join(home, ".claude/projects", claudeFolderName(workspace)),
      pi: path.join(home, ".pi/agent/sessions", sessionFolderName(workspace)),
    };
    const { name, lines } = session({ cwd: workspace, usedTokens: USED_TOKENS, id: sessionId(20) });
    // What stands in one session names it alone.
    const others = lines.map((line) => line.replaceAll("Checkout sometimes charges", "Orders now and then charge"));
    const records = asClaudeCode(others, { cwd: workspace, id: CLAUDE_ID, title: SESSIONS["claude-code"].title });
    this.paths = { "claude-code": this.#write("claude-code", `${CLAUDE_ID}.jsonl`, records), pi: this.#write("pi", name, lines) };
  }

  #write(agent, name, lines) {
    mkdirSync(this.folders[agent], { recursive: true });
    const transcript = path.join(this.folders[agent], name);
    writeFileSync(transcript, lines.map((line) => `${line}\n`).join(""));
    return transcript;
  }

  /** Start both, at work until `stop`; their windows fill up within these seconds. */
  start(python, { seed, seconds }) {
    this.process = spawn(python, [PROGRAM, this.home, this.workspace, CLAUDE_ID, String(seed), String(seconds)], { stdio: ["pipe", "pipe", "inherit"] });
    this.#ended = new Promise((resolve) => this.process.once("close", resolve));
    let rest = "";
    this.process.stdout.on("data", (data) => {
      const lines = (rest + data).split("\n");
      rest = lines.pop();
      for (const { agent, did } of lines.map((line) => JSON.parse(line))) {
        if (did === "turn") this.nTurns[agent] += 1;
      }
    });
  }

  /** Throw where they have ended by themselves. */
  assertAtWork() {
    assert.equal(this.process.exitCode, null, "the agents have ended");
  }

  /** Wait until one of them has gone on. */
  async oneGoesOn() {
    const before = this.#written();
    await until("an agent to go on", () => {
      this.assertAtWork();
      return this.#written() !== before;
    });
  }

  #written() {
    return Object.values(this.paths).reduce((sum, file) => sum + readFileSync(file).length, 0);
  }

  /** Return every transcript of both with its bytes, by agent and path. */
  transcripts() {
    const files = Object.entries(this.folders).flatMap(([agent, folder]) =>
      readdirSync(folder)
        .filter((name) => name.endsWith(".jsonl"))
        .map((name) => ({ agent, path: path.join(folder, name), data: readFileSync(path.join(folder, name)) })),
    );
    return new Map(files.map((file) => [file.path, file]));
  }

  async stop() {
    this.process?.stdin.end();
    await this.#ended;
  }
}
