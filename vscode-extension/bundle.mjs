// Puts what the extension carries of the repository into bundled/: the server's package (a wheel) and the schemas.
//   node bundle.mjs     PYTHON: the interpreter to build with; default ../.venv's, else python3
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const extension = path.dirname(fileURLToPath(import.meta.url));
const repository = path.dirname(extension);
const target = path.join(extension, "bundled");

const environments = [".venv/bin/python", ".venv/Scripts/python.exe"].map((name) => path.join(repository, name));
const python = process.env.PYTHON ?? environments.find(existsSync) ?? (process.platform === "win32" ? "python" : "python3");
const { version } = JSON.parse(readFileSync(path.join(extension, "package.json"), "utf8"));

rmSync(target, { recursive: true, force: true });
mkdirSync(target);
for (const name of ["checkpoint.schema.json", "config.schema.json"]) {
  copyFileSync(path.join(repository, "server/ullage/data/schemas", name), path.join(target, name));
}

// hatchling dates every file alike, so that the same sources make the same bytes.
const arguments_ = ["-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", target, repository];
const { status, error } = spawnSync(python, arguments_, { stdio: ["ignore", "inherit", "inherit"] });
if (status !== 0) throw new Error(`${python} made no wheel of ${repository}: ${error?.message ?? `exit code ${status}`}`);

const [wheel] = readdirSync(target).filter((name) => name.endsWith(".whl"));
if (wheel !== `ullage-${version}-py3-none-any.whl`) {
  throw new Error(`the server's package is ${wheel}, and the extension has version ${version}: set both versions to the same`);
}
console.log(`bundled/${wheel}`);
