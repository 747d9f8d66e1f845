// Print, as one line of JSON for each session file named, what pi itself builds from it.
//   node context.mjs 0.73.1|0.87.1 FILE...
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const PACKAGES = {
  "0.73.1": "@mariozechner/pi-coding-agent",
  "0.87.1": "@earendil-works/pi-coding-agent",
};
const [version, ...files] = process.argv.slice(2);
const { SessionManager } = await import(PACKAGES[version]);

for (const file of files) {
  // pi rewrites old files when it opens them, so it gets a copy.
  const folder = mkdtempSync(path.join(tmpdir(), "ullage-peer-"));
  try {
    const copy = path.join(folder, path.basename(file));
    copyFileSync(file, copy);
    const session = SessionManager.open(copy, folder);
    const { messages } = session.buildSessionContext();
    const answer = { messages, leafId: session.getLeafId(), nEntries: session.getEntries().length };
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
