/** Which session the gauge, the views, the plot and the commands are about: the server says, and the user may choose. */

import * as vscode from "vscode";
import type { Client } from "../client";
import type { Abilities } from "../model/actions";
import { withSubagents } from "../model/tree";
import { CHOOSE_COMMAND, SESSIONS_REQUEST, type GaugeParams, type Outcome, type SessionRef, type SessionRow } from "../protocol";

export class ShownSession implements vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<void>();
  readonly onDidChange = this.emitter.event;
  private gauge: GaugeParams | undefined;
  /** What the user chose, to be said again to a server that was started anew. */
  private chosenPath: string | null = null;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly client: Client,
    onError: (error: unknown) => void,
  ) {
    this.subscription = vscode.Disposable.from(
      client.onGauge((gauge) => {
        const { isKnown: wasKnown, path: pathBefore } = this;
        this.gauge = gauge;
        if (gauge?.isChosen === true) {
          // A session that goes on in a copy is followed there.
          this.chosenPath = gauge.session?.path ?? null;
        }
        this.setContextKeys();
        if (this.path !== pathBefore || this.isKnown !== wasKnown) {
          this.emitter.fire();
        }
      }),
      client.onHealth(({ state }) => {
        if (state === "running" && this.chosenPath !== null) {
          this.client.execute(CHOOSE_COMMAND, { session: this.chosenPath }).catch(onError);
        }
      }),
    );
    this.setContextKeys();
  }

  /** Whether the server has said which session the gauge is of, if any. */
  get isKnown(): boolean {
    return this.gauge !== undefined;
  }

  get session(): SessionRef | undefined {
    return this.gauge?.session ?? undefined;
  }

  /** What requests and commands are given; null where there is no session, which the server says in its words. */
  get path(): string | null {
    return this.session?.path ?? null;
  }

  get isChosen(): boolean {
    return this.gauge?.isChosen === true;
  }

  get abilities(): Abilities {
    return abilities(this.gauge);
  }

  /** Return what can be done with a session; null is the shown one. */
  async abilitiesOf(path: string | null): Promise<Abilities> {
    const known = path === null || path === this.path ? this.gauge : await this.rowOf(path);
    // One of elsewhere, opened as a file: the server refuses what cannot be, in words that say why.
    return abilities(known ?? { canWrite: true, canNote: true, isAutomatic: false });
  }

  /** Return how a session is called in titles; null is the shown one. */
  async nameOf(path: string | null): Promise<string> {
    if (this.gauge !== undefined && (path === null || path === this.path)) {
      return `${this.gauge.title} · ${this.gauge.text}`;
    }
    const row = path === null ? undefined : await this.rowOf(path);
    // Its agent and its id come first in the details.
    return row === undefined ? (path ?? "") : `${row.title} · ${row.detail}`;
  }

  /** Show a session until another is chosen; null is the live one. */
  async choose(path: string | null): Promise<Outcome> {
    const outcome = await this.client.execute(CHOOSE_COMMAND, { session: path });
    this.chosenPath = path;
    return outcome;
  }

  dispose(): void {
    this.subscription.dispose();
    this.emitter.dispose();
  }

  private async rowOf(path: string): Promise<SessionRow | undefined> {
    const { sessions } = await this.client.request(SESSIONS_REQUEST, { session: null });
    return withSubagents(sessions).find(({ session }) => session.path === path);
  }

  private setContextKeys(): void {
    const { canWrite, canNote, isAutomatic } = this.abilities;
    for (const [key, value] of [
      ["ullage.hasSession", this.path !== null],
      // Known, not only unknown as yet.
      ["ullage.hasNoSession", this.isKnown && this.path === null],
      ["ullage.canWrite", canWrite],
      ["ullage.canNote", canNote],
      ["ullage.isAutomatic", isAutomatic],
    ] as const) {
      void vscode.commands.executeCommand("setContext", key, value);
    }
  }
}

function abilities(of: Pick<SessionRow, "canWrite" | "canNote" | "isAutomatic"> | undefined): Abilities {
  return {
    isTrusted: vscode.workspace.isTrusted,
    canWrite: of?.canWrite ?? false,
    canNote: of?.canNote ?? false,
    isAutomatic: of?.isAutomatic ?? false,
  };
}
