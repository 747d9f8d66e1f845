// The extension and the server in a real VS Code workbench, as a user meets them.
//   node run.mjs [FLOW...]     CHROMIUM, ULLAGE_PYTHON, ULLAGE_WORKBENCH_DIR, VSIX, SHOTS: see README.md
import { mkdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import * as auto from "./flows/auto.mjs";
import * as bands from "./flows/bands.mjs";
import * as checkpoints from "./flows/checkpoints.mjs";
import * as choose from "./flows/choose.mjs";
import * as figures from "./flows/figures.mjs";
import * as files from "./flows/files.mjs";
import * as hostile from "./flows/hostile.mjs";
import * as install from "./flows/install.mjs";
import * as memory from "./flows/memory.mjs";
import * as nothing from "./flows/nothing.mjs";
import * as offer from "./flows/offer.mjs";
import * as parts from "./flows/parts.mjs";
import * as preview from "./flows/preview.mjs";
import * as prune from "./flows/prune.mjs";
import * as python from "./flows/python.mjs";
import * as reading from "./flows/reading.mjs";
import * as restricted from "./flows/restricted.mjs";
import * as review from "./flows/review.mjs";
import * as shows from "./flows/shows.mjs";
import * as twoAgents from "./flows/two_agents.mjs";
import { Installation, run, Workbench } from "./workbench.mjs";

const repository = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");
const PYTHON = path.resolve(process.env.ULLAGE_PYTHON ?? path.join(repository, ".venv/bin/python"));
const SHOTS = path.resolve(process.env.SHOTS ?? path.join(repository, "vscode-extension/out/workbench"));

/** One window each: what it is started with, and the flows that go through it in this order. */
const WINDOWS = [
  { options: {}, settings: { "ullage.interpreter": PYTHON }, flows: [bands, auto, preview, prune, choose, checkpoints, shows, files] },
  // What another flow leaves behind in the workspace would be changed from outside.
  { options: {}, settings: { "ullage.interpreter": PYTHON }, flows: [memory] },
  { options: {}, settings: { "ullage.interpreter": PYTHON }, flows: [review] },
  // Its window is loaded anew, on another branch too.
  { options: { isOffered: true }, settings: { "ullage.interpreter": PYTHON }, flows: [offer] },
  // The only agent is another one, and its user wants to be told when it waits.
  { options: {}, settings: { "ullage.interpreter": PYTHON, "ullage.notify.agentWaits": true }, flows: [parts] },
  // Limits stand in the status bar of who wants them there.
  { options: {}, settings: { "ullage.interpreter": PYTHON, "ullage.gauge.showLimits": true }, flows: [figures, reading] },
  { options: { isRestricted: true }, settings: { "ullage.interpreter": PYTHON }, flows: [restricted] },
  { options: { isRestricted: true }, settings: { "ullage.interpreter": PYTHON }, flows: [hostile] },
  { options: {}, settings: { "ullage.interpreter": PYTHON }, flows: [hostile] },
  { options: {}, settings: { "ullage.interpreter": PYTHON }, flows: [twoAgents] },
  { options: {}, settings: { "ullage.interpreter": PYTHON }, flows: [nothing] },
  // The only Python on its PATH is an old one.
  { options: {}, settings: {}, flows: [python] },
  { options: {}, settings: {}, flows: [install] },
];

const started = Date.now();
const say = (text) => console.log(`[${((Date.now() - started) / 1000).toFixed(1).padStart(5)} s] ${text}`);
const asked = process.argv.slice(2);
const counts = { passed: 0, failed: 0 };
let installation;
let workbench;

// What was started is taken away even when the run is interrupted.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, () => {
    workbench?.kill();
    installation?.remove();
    console.log(`${counts.passed} passed, ${counts.failed + 1} failed`);
    process.exit(1);
  });
}

/** Go through the flows of one window; what goes wrong ends the window, as the flows after it rest on it. */
async function through({ options, settings, flows }) {
  workbench = new Workbench();
  let current = flows[0];
  try {
    for (const flow of flows) await flow.prepare?.(workbench, { python: PYTHON, ...options });
    await workbench.start(installation, settings, options);
    say(`a window is open${options.isRestricted ? ", in Restricted Mode" : ""}`);
    for (const flow of flows) {
      current = flow;
      const shot = async (name) => {
        const file = path.join(SHOTS, `${name}.png`);
        await workbench.picture(file);
        say(`  picture: ${file}`);
      };
      await flow.go(workbench, { say: (text) => say(`  ${text}`), shot });
      workbench.assertKeyboardAlone();
      counts.passed += 1;
      say(`passed: ${flow.TITLE}`);
    }
  } catch (error) {
    counts.failed += 1;
    say(`FAILED: ${current.TITLE}`);
    console.error(error);
    console.error(await workbench.report(path.join(SHOTS, `failed-${current.NAME}.png`)));
  }
  await workbench.stop().catch((error) => {
    counts.failed += 1;
    console.error(error);
  });
}

mkdirSync(SHOTS, { recursive: true });
run(PYTHON, ["-c", "import ullage"]);
installation = new Installation();
say("the extension is packaged and installed");
for (const window of WINDOWS) {
  const flows = window.flows.filter((flow) => asked.length === 0 || asked.includes(flow.NAME));
  if (flows.length > 0) await through({ ...window, flows });
}
installation.remove();
say("done");
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1);
