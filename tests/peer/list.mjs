// Print the paths of the sessions of a workspace that pi lists in a folder.
//   node list.mjs 0.73.1|0.87.1 CWD FOLDER
const PACKAGES = {
  "0.73.1": "@mariozechner/pi-coding-agent",
  "0.87.1": "@earendil-works/pi-coding-agent",
};
const [version, cwd, folder] = process.argv.slice(2);
const { SessionManager } = await import(PACKAGES[version]);

const found = await SessionManager.list(cwd, folder);
process.stdout.write(JSON.stringify(found.map((one) => one.path)));
