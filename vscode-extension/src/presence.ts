/** Whether there is anything for the server to do: without a sign of an agent it is not started. */

import { access } from "node:fs/promises";
import { homedir } from "node:os";
import * as vscode from "vscode";
import { sessionRoots } from "./model/agents";

/** Files that the user opens because of what we have to say about them. */
const OUR_FILES = /(?:\.jsonl|[/\\]\.ullage\.yaml)$/;

/**
 * Call `start` as soon as there is a sign of an agent: a folder of its sessions, or one of our files in an editor.
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
  const lookAt = (document: vscode.TextDocument): void => {
    if (document.uri.scheme === "file" && OUR_FILES.test(document.uri.fsPath)) {
      startOnce();
    }
  };
  const signs = vscode.Disposable.from(
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) {
        void look();
      }
    }),
    vscode.workspace.onDidOpenTextDocument(lookAt),
  );
  vscode.workspace.textDocuments.forEach(lookAt);
  void look();
  return new vscode.Disposable(() => {
    isStarted = true;
    signs.dispose();
  });
}

async function hasSessionFolder(): Promise<boolean> {
  const looks = sessionRoots(process.env, homedir()).map(async (folder) => access(folder));
  return Promise.any(looks).then(
    () => true,
    () => false,
  );
}
