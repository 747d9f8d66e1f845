/** Whether there is anything for the server to do: without a sign of an agent it is not started. */

import { access, open } from "node:fs/promises";
import { homedir } from "node:os";
import * as vscode from "vscode";
import { sessionRoots } from "./model/agents";
import { beginsAsSession, HEAD_BYTES, isBelow } from "./model/sessionFile";

/**
 * Call `start` as soon as there is a sign of an agent: a folder of its sessions, or in an editor a session or our configuration.
 *
 * Looked for at the start, when the window gets the focus (the user comes back from the agent's terminal), and when a
 * file is opened; after the first sign never again.
 */
export function whenAgentsArePresent(start: () => void): vscode.Disposable {
  let isStarted = false;
  const startOnce = (): void => {
    if (!isStarted) {
      isStarted = true;
      signs.dispose();
      start();
    }
  };
  const look = async (): Promise<void> => {
    if (await hasSessionFolder()) {
      startOnce();
    }
  };
  const lookAt = async ({ uri }: vscode.TextDocument): Promise<void> => {
    if (uri.scheme === "file" && (await isOurs(uri.fsPath))) {
      startOnce();
    }
  };
  const signs = vscode.Disposable.from(
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) {
        void look();
      }
    }),
    vscode.workspace.onDidOpenTextDocument((document) => void lookAt(document)),
  );
  vscode.workspace.textDocuments.forEach((document) => void lookAt(document));
  void look();
  return new vscode.Disposable(() => {
    isStarted = true;
    signs.dispose();
  });
}

async function hasSessionFolder(): Promise<boolean> {
  const looks = folders().map(async (folder) => access(folder));
  return Promise.any(looks).then(
    () => true,
    () => false,
  );
}

function folders(): readonly string[] {
  return sessionRoots(process.env, homedir());
}

/** Return whether the user opens a file because of what we have to say about it. */
async function isOurs(path: string): Promise<boolean> {
  if (/[/\\]\.ullage\.yaml$/.test(path)) {
    return true;
  }
  return path.endsWith(".jsonl") && (isBelow(path, folders()) || beginsAsSession(await headOf(path)));
}

async function headOf(path: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    // It cannot be read, or is gone.
    return "";
  }
}
