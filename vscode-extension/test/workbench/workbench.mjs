// Starts the workbench in a folder of its own, drives it as a person does, and takes everything away again.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = path.dirname(fileURLToPath(import.meta.url));
const extensionFolder = path.resolve(here, "../..");

/** For each single wait; a slow machine with two cores needs a fifth of it. */
export const TIMEOUT_MS = Number(process.env.ULLAGE_WORKBENCH_TIMEOUT_MS ?? 60_000);

const SETTINGS = {
  "breadcrumbs.enabled": false,
  "chat.commandCenter.enabled": false,
  "chat.disableAIFeatures": true,
  "editor.cursorBlinking": "solid",
  "editor.fontSize": 13,
  "editor.minimap.enabled": false,
  "editor.stickyScroll.enabled": false,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "files.autoSave": "off",
  "files.simpleDialog.enable": true,
  "git.enabled": false,
  "remote.autoForwardPorts": false,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "window.commandCenter": false,
  "workbench.colorTheme": "Default Dark Modern",
  "workbench.editor.enablePreview": false,
  "workbench.enableExperiments": false,
  "workbench.layoutControl.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
};

/** Run a program to its end; throw what it said when it fails. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: "utf8", timeout: 600_000, ...options });
  if (result.status !== 0) {
    throw new Error(`${command} ${args.join(" ")} failed: ${result.error ?? ""}\n${result.stdout}${result.stderr}`);
  }
  return result.stdout;
}

/** Poll until `check` returns something true; the polling ends with the condition, never with a guess at its time. */
export async function until(what, check, timeout_ms = TIMEOUT_MS) {
  const end = Date.now() + timeout_ms;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited ${timeout_ms / 1000} s for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export class Workbench {
  /** Everything that a run writes is below this folder. */
  root = mkdtempSync(path.join(realpathSync(tmpdir()), "ullage-"));
  home = this.#folder("home");
  workspace = this.#folder("checkout-service");
  page = undefined;
  #context = undefined;
  #codeServer = undefined;
  #log = [];

  #folder(name) {
    const folder = path.join(this.root, name);
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  }

  /**
   * Package and install the extension, start code-server, and open the workspace in Chromium.
   *
   * With `isRestricted` workspace trust is on, and nobody has trusted the folder. `path` replaces the PATH.
   */
  async start(settings, { isRestricted = false, searchPath = undefined } = {}) {
    const setup = path.join(here, "setup.sh");
    run("bash", [setup], { stdio: ["ignore", "inherit", "inherit"] });
    const installed = run("bash", [setup, "--where"]).trim();
    const node = path.join(installed, "node");

    const userData = this.#folder("user-data");
    // Newer workbenches read machine-scoped settings from Machine/ only, 1.100 from User/ as well.
    for (const scope of ["User", "Machine"]) {
      mkdirSync(path.join(userData, scope));
      const trust = {
        "security.workspace.trust.enabled": isRestricted,
        // Restricted at once, as when the user has said "No, I don't trust the authors" before.
        "security.workspace.trust.startupPrompt": "never",
      };
      writeFileSync(path.join(userData, scope, "settings.json"), JSON.stringify({ ...SETTINGS, ...trust, ...settings }, null, 2));
    }
    const config = path.join(this.root, "config.yaml");
    writeFileSync(config, "auth: none\ncert: false\n");
    const args = [
      path.join(installed, "node_modules/code-server/out/node/entry.js"),
      "--config", config, "--user-data-dir", userData, "--extensions-dir", this.#folder("extensions"),
    ];
    const env = this.#environment(searchPath);

    run(node, [...args, "--install-extension", this.#package(), "--force"], { env });

    const port = await freePort();
    this.#codeServer = spawn(
      node,
      [
        ...args, "--bind-addr", `127.0.0.1:${port}`, "--auth", "none", "--disable-telemetry", "--disable-update-check",
        ...(isRestricted ? [] : ["--disable-workspace-trust"]), "--disable-getting-started-override", this.workspace,
      ],
      { env, cwd: this.home, detached: true, stdio: ["ignore", "pipe", "pipe"] },
    );
    for (const stream of [this.#codeServer.stdout, this.#codeServer.stderr]) {
      stream.on("data", (data) => this.#log.push(String(data)));
    }
    const address = `http://127.0.0.1:${port}`;
    await until("code-server to answer", async () => {
      if (this.#codeServer.exitCode !== null) throw new Error("code-server ended");
      return fetch(`${address}/healthz`).then((response) => response.ok, () => false);
    });

    const profile = this.#folder("chromium");
    this.#context = await chromium.launchPersistentContext(profile, {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      headless: true,
      env,
      viewport: { width: 1280, height: 800 },
      args: [
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
      ],
    });
    this.#context.setDefaultTimeout(TIMEOUT_MS);
    this.page = this.#context.pages()[0] ?? (await this.#context.newPage());
    await this.page.goto(`${address}/?folder=${encodeURIComponent(this.workspace)}`);
    await this.page.locator(".monaco-workbench .part.statusbar").waitFor();
  }

  /** Run a command from the palette. */
  async command(label) {
    await this.page.keyboard.press("F1");
    const box = this.page.locator(".quick-input-widget input");
    await box.waitFor();
    await box.fill(`>${label}`);
    await this.page.locator(".quick-input-widget .monaco-list-row.focused", { hasText: label }).waitFor();
    await box.press("Enter");
    await box.waitFor({ state: "hidden" });
  }

  /** Open a file by its path, as "Go to File" does. */
  async openFile(file) {
    await this.page.keyboard.press("Control+P");
    const box = this.page.locator(".quick-input-widget input");
    await box.waitFor();
    await box.fill(file);
    await this.page.locator(".quick-input-widget .monaco-list-row.focused", { hasText: path.basename(file) }).waitFor();
    await box.press("Enter");
    await this.page.locator(".tab.active", { hasText: path.basename(file) }).waitFor();
  }

  /** Write a picture of the window; nothing hovers, nothing blinks. */
  async picture(file) {
    mkdirSync(path.dirname(file), { recursive: true });
    await this.page.mouse.move(900, 720);
    await this.page.locator(".monaco-hover:visible").waitFor({ state: "hidden" }).catch(() => undefined);
    await this.page.screenshot({ path: file, animations: "disabled" });
  }

  /** A row of a tree in the side bar. */
  row(text) {
    return this.page.locator(".sidebar .monaco-list-row", { hasText: text }).first();
  }

  /** Run a command of a row by the keyboard: its context menu, then the entry. */
  async rowCommand(text, entry) {
    await this.row(text).click();
    await this.page.keyboard.press("Shift+F10");
    const item = this.page.locator(".monaco-menu .action-item", { hasText: entry }).first();
    await item.waitFor();
    await item.click();
  }

  /** Choose an entry of the quick pick that is open. */
  async pick(text) {
    const box = this.page.locator(".quick-input-widget");
    await box.locator(".monaco-list-row", { hasText: text }).first().waitFor();
    await box.locator("input").first().fill(text);
    await box.locator(".monaco-list-row.focused", { hasText: text }).waitFor();
    await this.page.keyboard.press("Enter");
  }

  notification(text) {
    return this.page.locator(".notification-toast", { hasText: text });
  }

  /** What helps to understand a failure: a picture, what code-server said, the logs of the Ullage server. */
  async report(picture) {
    mkdirSync(path.dirname(picture), { recursive: true });
    const taken = await this.page?.screenshot({ path: picture }).then(() => true, () => false);
    const said = await this.page?.locator(".notification-toast").allInnerTexts().catch(() => []);
    const state = path.join(this.home, ".local/state");
    const logs = existsSync(state)
      ? readdirSync(state, { recursive: true })
          .filter((name) => name.endsWith(".log"))
          .map((name) => `--- ${name}\n${readFileSync(path.join(state, name), "utf8").slice(-4000)}`)
      : [];
    return [taken ? `picture: ${picture}` : "no picture", ...(said ?? []), "--- code-server", this.#log.join("").slice(-1500), ...logs].join("\n");
  }

  /** End what was started and remove what was written; throw when something stays. */
  async stop() {
    await this.#context?.close().catch(() => undefined);
    const group = this.#codeServer?.pid;
    if (group !== undefined) {
      signalGroup(group, "SIGTERM");
      const ended = await until("code-server to end", () => !signalGroup(group, 0), 10_000).catch(() => false);
      if (!ended) {
        signalGroup(group, "SIGKILL");
        await until("code-server to be killed", () => !signalGroup(group, 0), 10_000);
      }
    }
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  /** Remove everything at once, for a run that is interrupted. */
  kill() {
    if (this.#codeServer?.pid !== undefined) signalGroup(this.#codeServer.pid, "SIGKILL");
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  #environment(searchPath) {
    // The variables of a VS Code terminal or of npm would change what code-server does.
    const inherited = Object.entries(process.env).filter(([name]) => !/^(VSCODE_|ELECTRON_|npm_|ULLAGE_|PI_|CLAUDE_|CODEX_)/.test(name));
    return {
      ...Object.fromEntries(inherited),
      HOME: this.home,
      ...(searchPath === undefined ? {} : { PATH: searchPath }),
      TMPDIR: this.#folder("tmp"),
      XDG_CACHE_HOME: path.join(this.home, ".cache"),
      XDG_CONFIG_HOME: path.join(this.home, ".config"),
      XDG_DATA_HOME: path.join(this.home, ".local/share"),
      XDG_RUNTIME_DIR: this.#folder("run"),
      XDG_STATE_HOME: path.join(this.home, ".local/state"),
    };
  }

  /** Return the extension's package: VSIX, or one made of the sources as they are. */
  #package() {
    if (process.env.VSIX !== undefined) return path.resolve(process.env.VSIX);
    const vsix = path.join(this.root, "ullage.vsix");
    run("npm", ["exec", "--offline", "--", "vsce", "package", "--allow-missing-repository", "-o", vsix], { cwd: extensionFolder });
    return vsix;
  }
}

/** Signal a process group; return whether it exists. */
function signalGroup(group, signal) {
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    return false;
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
