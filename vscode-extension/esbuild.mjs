// Bundles the extension, or with --tests the unit tests. --production minifies; otherwise there are source maps.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const production = process.argv.includes("--production");
const tests = process.argv.includes("--tests");

const common = { bundle: true, platform: "node", target: "node20", logLevel: "warning" };

if (tests) {
  rmSync("out/unit", { recursive: true, force: true });
  await build({
    ...common,
    entryPoints: readdirSync("test/unit").map((name) => `test/unit/${name}`),
    outdir: "out/unit",
    outExtension: { ".js": ".mjs" },
    format: "esm",
    sourcemap: "inline",
  });
} else {
  rmSync("dist", { recursive: true, force: true });
  const { metafile } = await build({
    ...common,
    // The connection is read when a server starts: without an agent the language client is never loaded.
    // Its name is one that no package has: what is external is so in packages too.
    entryPoints: ["src/extension.ts", "src/serverConnection.ts"],
    outdir: "dist",
    format: "cjs",
    external: ["vscode", "./serverConnection"],
    // Node's own import() would ask for the ending of the file.
    supported: { "dynamic-import": false },
    metafile: true,
    minify: production,
    sourcemap: !production,
  });
  writeFileSync("dist/NOTICES.txt", notices(Object.keys(metafile.inputs)));
}

/** Return the licenses of the packages that are in the bundle: they ask for it. */
function notices(files) {
  const packages = new Set(files.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]).filter(Boolean));
  return [...packages].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${folder} has no license file`);
    return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
  }).join(`\n${"-".repeat(72)}\n\n`);
}
