import assert from "node:assert/strict";
import { test } from "node:test";
import { previewName, stateFolder } from "../../src/model/previewPath";

const same = (one: string, other: string): boolean => one === other;

test("only what is in the server's own folder is of a preview", () => {
  const name = "0123456789abcdef";
  for (const file of ["proposed.md", "before.md"]) {
    assert.equal(previewName(`/s/ullage/previews/${name}/${file}`, "/s/ullage", same), name);
  }
  for (const path of [
    `/work/docs/previews/${name}/proposed.md`,
    `/s/ullage/previews/${name}/preview.json`,
    `/s/ullage/previews/${name}/proposed.1.md`,
    `/s/ullage/previews/${name}/x/proposed.md`,
    "/s/ullage/previews/mine/proposed.md",
    "/s/ullage/previews/0123456789ABCDEF/proposed.md",
  ]) {
    assert.equal(previewName(path, "/s/ullage", same), undefined, path);
  }
});

test("the server's folder is the one that the environment names, else the platform's", () => {
  assert.equal(stateFolder({ ULLAGE_STATE_DIR: "~/u" }, "linux", "/h"), "/h/u");
  assert.equal(stateFolder({ XDG_STATE_HOME: "/x" }, "linux", "/h"), "/x/ullage");
  assert.equal(stateFolder({}, "linux", "/h"), "/h/.local/state/ullage");
  assert.equal(stateFolder({}, "darwin", "/h"), "/h/Library/Application Support/ullage");
  assert.equal(stateFolder({ LOCALAPPDATA: "C:\\L" }, "win32", "C:\\h"), "C:\\L/ullage");
});
