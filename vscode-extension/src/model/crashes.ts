/** When a server that keeps crashing is left alone. */

/** As vscode-languageclient has it: the fifth crash within three minutes is the last. */
export const MAX_CRASHES = 5;
export const CRASH_WINDOW_MS = 180_000;

/** The times of the recent crashes of one server. */
export class Crashes {
  private times_ms: readonly number[] = [];

  /** Note a crash, and return whether the server is worth another start. */
  add(now_ms: number): boolean {
    this.times_ms = [...this.times_ms.filter((time_ms) => now_ms - time_ms < CRASH_WINDOW_MS), now_ms];
    return this.times_ms.length < MAX_CRASHES;
  }
}
