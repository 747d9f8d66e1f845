/** Whether a file that the user opens is an agent's session: other programs write JSON Lines too. */

/** Of a file this much is looked at: the first line of each format says within it what it is. */
export const HEAD_BYTES = 4_096;

/** Return whether a file begins as pi, OpenClaw, Codex and Claude Code begin a session. */
export function beginsAsSession(head: string): boolean {
  const [line = ""] = head.split(/[\r\n]/, 1);
  return /^\ufeff?\s*\{/.test(line) && /"type"\s*:\s*"session(?:_meta)?"|"sessionId"\s*:\s*"/.test(line);
}

/** Return whether a file is below one of the folders that agents keep their sessions in. */
export function isBelow(path: string, folders: readonly string[]): boolean {
  const plain = (text: string): string => text.replace(/[/\\]+/g, "/").replace(/\/$/, "");
  return folders.some((folder) => plain(path).startsWith(`${plain(folder)}/`));
}
