// What the extension makes of checkpoints among messages: node pi_checkpoint.mjs FOLDER < '[{"role": …}]'
// prints {"holds", "sent"}.
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createJiti } from "jiti";

const [folder] = process.argv.slice(2);
const { holdsCheckpoint, withLatestCheckpoint } = await createJiti(import.meta.url).import(join(folder, "checkpoint.ts"));
const messages = JSON.parse(await text(process.stdin));
process.stdout.write(JSON.stringify({ holds: holdsCheckpoint(messages), sent: withLatestCheckpoint(messages) }));
