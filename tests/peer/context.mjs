// Print, as one line of JSON for each session file named, what pi itself builds from it.
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { SessionManager } from "@mariozechner/pi-coding-agent";

for (const file of process.argv.slice(2)) {
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
