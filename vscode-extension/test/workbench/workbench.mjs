// Starts the workbench in a folder of its own, drives it as a person does, and takes everything away again.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { lookOf } from "./looks.mjs";
import { findUnnamed } from "./names.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const extensionFolder = path.resolve(here, "../..");

/** For each single wait; a slow machine with two cores needs a fifth of it. */
export const TIMEOUT_MS = Number(process.env.ULLAGE_WORKBENCH_TIMEOUT_MS ?? 60_000);

const LOOK = lookOf(process.env.LOOK ?? "dark");

const SETTINGS = {
  "breadcrumbs.enabled": false,
  "chat.commandCenter.enabled": false,
  "chat.disableAIFeatures": true,
  "editor.cursorBlinking": "solid",
  "editor.fontSize": 13,
  "editor.minimap.enabled": false,
  "editor.occurrencesHighlight": "off",
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
  "workbench.colorTheme": LOOK.theme,
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

/** What all windows of a run have in common: code-server, and the extension as it is installed from its package. */
export class Installation {
  #root = mkdtempSync(path.join(realpathSync(tmpdir()), "ullage-"));
  extensions = path.join(this.#root, "extensions");

  constructor() {
    const setup = path.join(here, "setup.sh");
    run("bash", [setup], { stdio: ["ignore", "inherit", "inherit"] });
    const installed = run("bash", [setup, "--where"]).trim();
    this.node = path.join(installed, "node");
    this.codeServer = path.join(installed, "node_modules/code-server/out/node/entry.js");
    const userData = path.join(this.#root, "user-data");
    const env = { ...inheritedEnvironment(), HOME: this.#root };
    const args = ["--user-data-dir", userData, "--extensions-dir", this.extensions, "--config", path.join(this.#root, "config.yaml")];
    run(this.node, [this.codeServer, ...args, "--install-extension", this.#package(), "--force"], { env });
  }

  /** Return the extension's package: VSIX, or one made of the sources as they are. */
  #package() {
    if (process.env.VSIX !== undefined) return path.resolve(process.env.VSIX);
    const vsix = path.join(this.#root, "ullage.vsix");
    run("npm", ["exec", "--offline", "--", "vsce", "package", "--allow-missing-repository", "-o", vsix], { cwd: extensionFolder });
    return vsix;
  }

  remove() {
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

export class Workbench {
  /** Everything that a window writes is below this folder. */
  root = mkdtempSync(path.join(realpathSync(tmpdir()), "ullage-"));
  home = this.#folder("home");
  workspace = this.#folder("checkout-service");
  page = undefined;
  #context = undefined;
  #codeServer = undefined;
  #log = [];
  /** What the mouse did. */
  #pointed = [];

  #folder(name) {
    const folder = path.join(this.root, name);
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  }

  /**
   * Start code-server with the extension, and open the workspace in Chromium.
   *
   * With `isRestricted` workspace trust is on, and nobody has trusted the folder. What earlier sessions left is
   * offered with `isOffered` alone: a message of which other flows would have to know.
   */
  async start(installation, settings, { isRestricted = false, isOffered = false } = {}) {
    const extensions = path.join(this.root, "extensions");
    cpSync(installation.extensions, extensions, { recursive: true });

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
    const env = { ...this.#environment(), ...(isOffered ? {} : { ULLAGE_RESUME_OFFER: "never" }) };

    const port = await freePort();
    this.#codeServer = spawn(
      installation.node,
      [
        installation.codeServer, "--config", config, "--user-data-dir", userData, "--extensions-dir", extensions, "--bind-addr", `127.0.0.1:${port}`, "--auth", "none", "--disable-telemetry", "--disable-update-check",
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
      viewport: LOOK.viewport,
      deviceScaleFactor: LOOK.deviceScaleFactor,
      args: [
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
      ],
    });
    this.#context.setDefaultTimeout(TIMEOUT_MS);
    await this.#context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: address });
    await this.#context.exposeFunction("noteMouse", (type) => this.#pointed.push(type));
    await this.#context.addInitScript(() => {
      for (const type of ["pointerdown", "pointermove", "wheel"]) {
        window.addEventListener(type, ({ isTrusted }) => isTrusted && window.noteMouse(type), { capture: true });
      }
    });
    this.page = this.#context.pages()[0] ?? (await this.#context.newPage());
    await this.page.goto(`${address}/?folder=${encodeURIComponent(this.workspace)}`);
    await this.page.locator(".monaco-workbench .part.statusbar").waitFor();
  }

  /** Run a command from the palette. */
  async command(label) {
    const box = await this.#palette("F1", `>${label}`, label);
    await box.press("Enter");
  }

  /** Return what the palette offers for a few letters; `known` is in sight at once. */
  async offered(letters, known) {
    const box = await this.#palette("F1", `>${letters}`, known, { isFocused: false });
    const focused = this.page.locator(".quick-input-widget .monaco-list-row.focused");
    const offered = [];
    // Only what is in sight is there; the arrow leads from row to row, and from the last to the first.
    for (let at = -1; ; ) {
      const next = await until("the next row", async () => {
        const index = Number(await focused.getAttribute("data-index"));
        return index === at ? undefined : { index };
      });
      if (next.index < at) return offered;
      offered.push(await focused.innerText());
      at = next.index;
      await box.press("ArrowDown");
    }
  }

  /** Open a palette and type; what takes the focus at this very moment closes it, and it is opened again. */
  async #palette(key, text, row, { isFocused = true } = {}) {
    const box = this.page.locator(".quick-input-widget input.input").first();
    const found = this.page.locator(`.quick-input-widget .monaco-list-row${isFocused ? ".focused" : ""}`, { hasText: row }).first();
    await until(`the palette to offer ${row}`, async () => {
      await this.page.keyboard.press(key);
      try {
        await box.waitFor({ timeout: 2_000 });
        await box.fill(text, { timeout: 2_000 });
        await found.waitFor({ timeout: 5_000 });
        return true;
      } catch {
        await this.page.keyboard.press("Escape");
        return false;
      }
    });
    return box;
  }

  /** Open a file by its path, as "Go to File" does. */
  async openFile(file) {
    const box = await this.#palette("Control+P", file, path.basename(file));
    await box.press("Enter");
    await this.page.locator(".tab.active", { hasText: path.basename(file) }).waitFor();
  }

  /** Write a picture of the window, and throw when a screen reader is told less than it shows. */
  async picture(file) {
    mkdirSync(path.dirname(file), { recursive: true });
    await this.page.screenshot({ path: file, animations: "disabled" });
    assert.deepEqual(await findUnnamed(this.page), [], "a screen reader is not told what is shown");
  }

  /** Put the cursor of the active editor there. */
  async goTo(line, column = 1) {
    const box = await this.#palette("Control+G", `:${line}:${column}`, /line/i);
    await box.press("Enter");
    await this.page.locator(".statusbar-item[id$='status.editor.selection']", { hasText: `Ln ${line}, Col ${column}` }).waitFor();
  }

  /** Do something until a thing is in sight; what is drawn anew meanwhile hides it again, or takes no keys. */
  async show(locator, begin) {
    await until(`${locator} to be in sight`, async () => {
      await begin();
      return locator.first().waitFor({ timeout: 5_000 }).then(() => true, () => false);
    });
    return locator.first();
  }

  /** Return what hovers over the cursor. */
  async hover(text) {
    return this.show(this.#hovering(text), () => this.command("Show or Focus Hover"));
  }

  /** Bring an item of the status bar into focus; return what hovers over it then. */
  async itemHover(selector, text) {
    return this.show(this.#hovering(text), () => this.focusItem(selector));
  }

  #hovering(text) {
    return this.page.locator(".monaco-hover:visible", { hasText: text });
  }

  /** Scroll up to a lens above the first line of the active editor: what is put there comes above the sight. */
  async topLens(text) {
    const lens = this.page.locator(".codelens-decoration", { hasText: text }).first();
    await until(`the lens ${text}`, async () => {
      await this.page.keyboard.press("Control+Home");
      await this.page.keyboard.press("Control+ArrowUp");
      return lens.isVisible();
    });
    return lens;
  }

  /** A row of one of our views. */
  row(text) {
    return this.page.locator(".tree-explorer-viewlet-tree-view .monaco-list-row", { hasText: text }).first();
  }

  /** Bring one of our views to the front, and a row of it into focus, by the keyboard. */
  async focusRow(view, text) {
    const pane = this.page.locator(".pane", { has: this.page.locator(".pane-header", { hasText: view }) });
    const row = pane.locator(".monaco-list-row.focused", { hasText: text });
    await until(`the row ${text} of the view ${view} to have the focus`, async () => {
      await this.command(`Context: Focus on ${view} View`);
      // A view that has no rows yet does not keep the focus.
      const isFocused = await pane.locator(".monaco-list:focus").waitFor({ timeout: 1_000 }).then(() => true, () => false);
      if (!isFocused) return false;
      await this.page.keyboard.press("Home");
      return this.#reaches(row, "ArrowDown");
    });
  }

  /** Open the focused row by the keyboard; return the row below it that is then shown. */
  async openRow(child) {
    return this.show(this.row(child), () => this.page.keyboard.press("ArrowRight"));
  }

  /** Open what a row of one of our views leads to, by the keyboard. */
  async openByRow(view, text, tab) {
    await this.show(this.page.locator(".tab.active", { hasText: tab }), async () => {
      await this.focusRow(view, text);
      await this.page.keyboard.press("Enter");
    });
  }

  /** Open the menu of the focused row by the keyboard; return its entries. */
  async rowMenu() {
    const entries = this.page.locator(".monaco-menu .action-item");
    await this.show(entries, () => this.page.keyboard.press("Shift+F10"));
    return entries;
  }

  /** Run a command of the focused row by the keyboard: its context menu, then the entry. */
  async rowCommand(entry) {
    const entries = await this.rowMenu();
    await this.reach(`the entry ${entry}`, entries.and(this.page.locator(".focused")).filter({ hasText: entry }), "ArrowDown");
    await this.page.keyboard.press("Enter");
  }

  /** Press a key until something has the focus. What is drawn anew meanwhile loses it: then the way is `begin`-ed again. */
  async reach(what, target, key, begin = async () => undefined) {
    await until(`the keyboard to reach ${what}`, async () => {
      await begin();
      return this.#reaches(target, key);
    });
  }

  async #reaches(target, key) {
    for (let n = 0; n < 60; n += 1) {
      if (await target.first().isVisible()) return true;
      await this.page.keyboard.press(key);
      await this.#drawn();
    }
    return false;
  }

  #drawn() {
    return this.page.evaluate(() => new Promise(requestAnimationFrame));
  }

  /** Choose an entry of the quick pick that is open. */
  async pick(text) {
    const box = this.page.locator(".quick-input-widget");
    // What is looked for may be out of sight until it is typed.
    await box.locator(".monaco-list-row").first().waitFor();
    await box.locator("input.input").first().fill(text);
    await box.locator(".monaco-list-row.focused", { hasText: text }).waitFor();
    await this.page.keyboard.press("Enter");
  }

  notification(text) {
    return this.page.locator(".notification-toast", { hasText: text }).first();
  }

  /** Run the quick fix of the next problem of the active editor, as its keys do; return what it is called. */
  async fixNext(title) {
    const { page } = this;
    const problem = await this.show(page.locator(".marker-widget"), () => page.keyboard.press("F8"));
    await page.keyboard.press("Escape");
    await problem.waitFor({ state: "detached" });
    return this.fix(title);
  }

  /** Open the actions at the cursor, and bring one into focus by the keyboard; return what it is called. */
  async fix(title) {
    const { page } = this;
    const rows = page.locator(".action-widget .monaco-list-row");
    await this.show(rows.filter({ hasText: title }), () => page.keyboard.press("Control+."));
    const focused = rows.and(page.locator(".focused")).filter({ hasText: title });
    await this.reach(title, focused, "ArrowDown");
    return (await focused.innerText()).trim();
  }

  /** Wait for a notification and return its text on one line. */
  async told(text) {
    const toast = this.notification(text);
    await toast.waitFor();
    return (await toast.locator(".notification-list-item-message").innerText()).replaceAll(/\s+/g, " ").trim();
  }

  /** Press a button of a notification by the keyboard: Tab leads from one to the next. */
  async answer(text, button) {
    const focused = this.page.locator(".notification-toast .monaco-button:focus", { hasText: button });
    await this.reach(`the button ${button} of ${text}`, focused, "Tab", async () => {
      await this.notification(text).waitFor();
      await this.command("Notifications: Focus Notification Toast");
    });
    await this.page.keyboard.press("Enter");
  }

  /** Press a button of the dialog that is open by the keyboard; return what it says below its question. */
  async confirm(text, button) {
    const dialog = this.page.locator(".monaco-dialog-box", { hasText: text });
    await dialog.waitFor();
    const detail = await dialog.locator(".dialog-message-detail").innerText();
    const focused = dialog.locator(".monaco-button:focus", { hasText: button });
    await this.reach(`the button ${button} of ${text}`, focused, "Tab");
    await this.page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    return detail.replaceAll(/\s+/g, " ").trim();
  }

  /** Throw when the mouse has been used: whoever has none must get everywhere. */
  assertKeyboardAlone() {
    assert.deepEqual(this.#pointed, [], "the mouse was used");
  }

  /** Bring an item of the status bar into focus by the keyboard; what hovers over it is shown. */
  async focusItem(selector) {
    const { page } = this;
    await this.reach(`the item ${selector}`, page.locator(`${selector} :focus`), "ArrowRight", async () => {
      await this.reach("the status bar", page.locator(".part.statusbar:focus-within"), "F6");
      await page.keyboard.press("Home");
    });
  }

  /** Return the command lines of the servers that this window runs. */
  servers() {
    return this.#processes().filter((words) => words.includes("ullage")).map((words) => words.join(" "));
  }

  /** Return what was started in this window's home, each as the words of its command line. */
  #processes() {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((id) => {
        try {
          const isOurs = readFileSync(`/proc/${id}/environ`, "utf8").split("\0").includes(`HOME=${this.home}`);
          const words = readFileSync(`/proc/${id}/cmdline`, "utf8").split("\0").filter(Boolean);
          return isOurs && words.length > 0 ? [words] : [];
        } catch {
          return []; // It has ended, or is not ours to look at.
        }
      });
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
    try {
      await until("everything that was started to end", () => this.#processes().length === 0, 10_000);
    } finally {
      rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    }
  }

  /** Remove everything at once, for a run that is interrupted. */
  kill() {
    if (this.#codeServer?.pid !== undefined) signalGroup(this.#codeServer.pid, "SIGKILL");
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  #environment() {
    return {
      ...inheritedEnvironment(),
      HOME: this.home,
      TMPDIR: this.#folder("tmp"),
      XDG_CACHE_HOME: path.join(this.home, ".cache"),
      XDG_CONFIG_HOME: path.join(this.home, ".config"),
      XDG_DATA_HOME: path.join(this.home, ".local/share"),
      XDG_RUNTIME_DIR: this.#folder("run"),
      XDG_STATE_HOME: path.join(this.home, ".local/state"),
    };
  }
}

/** Return our own environment without the variables of a VS Code terminal, of npm and of agents. */
function inheritedEnvironment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VSCODE_|ELECTRON_|npm_|ULLAGE_|PI_|CLAUDE_|CODEX_|XDG_)/.test(name)));
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
