/** Which files are of the server's previews: by their place, since another window may have made them. */

/** As `server/ullage/store/documents/previews.py` names them. */
const PREVIEW_FILE = /^(.+)[/\\]previews[/\\]([0-9a-f]{16})[/\\](?:before|proposed)\.md$/;

type Environment = Readonly<Record<string, string | undefined>>;

/** Return the name of the preview that a file is the proposal of, or the messages beside it; undefined for any other file. */
export function previewName(path: string, stateFolder: string, isSameFile: (one: string, other: string) => boolean): string | undefined {
  const [, folder, name] = PREVIEW_FILE.exec(path) ?? [];
  return folder !== undefined && isSameFile(folder, stateFolder) ? name : undefined;
}

/** Return the folder of the server's state, as `server/ullage/store/files/places.py` and platformdirs have it. */
export function stateFolder(environment: Environment, platform: string, home: string): string {
  const chosen = environment["ULLAGE_STATE_DIR"] ?? "";
  if (chosen !== "") {
    return chosen.replace(/^~(?=$|[/\\])/, () => home);
  }
  if (platform === "win32") {
    return `${environment["LOCALAPPDATA"] ?? `${home}/AppData/Local`}/ullage`;
  }
  const state = (environment["XDG_STATE_HOME"] ?? "").trim();
  if (state !== "") {
    return `${state}/ullage`;
  }
  return platform === "darwin" ? `${home}/Library/Application Support/ullage` : `${home}/.local/state/ullage`;
}
