/** Shows that something takes its time, and lets the user end it. */

import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";
import type { RequestOptions } from "../serverConnection";
import { growth, type Growth, type Report } from "../model/progress";

/** Chosen: what is over by then would only flash. */
const PATIENCE_MS = 1_500;

/**
 * Run what the user has asked for; when it takes long, show a notification that can cancel it.
 *
 * What the server reports of its steps stands in the notification, which goes when the server says that they are done:
 * it may have a question then. Returns undefined when the user has cancelled.
 */
export async function withPatience<Result>(
  title: string,
  task: (options: RequestOptions) => Promise<Result>,
): Promise<Result | undefined> {
  const cancellation = new vscode.CancellationTokenSource();
  const timer = new AbortController();
  const grown = growth();
  let last: Report | undefined;
  let shownProgress: vscode.Progress<Growth> | undefined;
  let endSteps: () => void = () => undefined;
  const stepsEnded = new Promise<void>((resolve) => {
    endSteps = resolve;
  });
  const running = task({
    token: cancellation.token,
    onStep: (step) => {
      if (step.kind === "end") {
        endSteps();
        timer.abort();
      } else {
        last = step;
        shownProgress?.report(grown(step));
      }
    },
  });
  const show = async (): Promise<void> => {
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    await vscode.window.withProgress(options, async (progress, token) => {
      token.onCancellationRequested(() => {
        cancellation.cancel();
      });
      shownProgress = progress;
      if (last !== undefined) {
        progress.report(grown(last));
      }
      // A failure is told by the one who waits for the result.
      await Promise.race([stepsEnded, running.then(undefined, () => undefined)]);
    });
  };
  const shown = delay(PATIENCE_MS, undefined, { signal: timer.signal }).then(show, () => undefined);
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
