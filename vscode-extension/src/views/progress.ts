/** Shows that something takes its time, and lets the user end it. */

import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";

/** Chosen: what is over by then would only flash. */
const PATIENCE_MS = 1_500;

/**
 * Run what the user has asked for; when it takes long, show a notification that can cancel it.
 *
 * The server shows its own steps in the status bar meanwhile. Returns undefined when the user has cancelled.
 */
export async function withPatience<Result>(
  title: string,
  task: (token: vscode.CancellationToken) => Promise<Result>,
): Promise<Result | undefined> {
  const cancellation = new vscode.CancellationTokenSource();
  const timer = new AbortController();
  const running = task(cancellation.token);
  const shown = delay(PATIENCE_MS, undefined, { signal: timer.signal }).then(
    () =>
      vscode.window.withProgress(
        { location: vscode.ProgressLocation.Notification, title, cancellable: true },
        async (_progress, token) => {
          token.onCancellationRequested(() => {
            cancellation.cancel();
          });
          // A failure is told by the one who waits for the result.
          await running.then(undefined, () => undefined);
        },
      ),
    () => undefined,
  );
  try {
    return await running;
  } catch (error) {
    if (cancellation.token.isCancellationRequested) {
      return undefined;
    }
    throw error;
  } finally {
    timer.abort();
    await shown;
    cancellation.dispose();
  }
}
