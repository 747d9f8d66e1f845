/** Which session the views, the plot and the commands are about: the gauge's, until the user chooses another. */

import * as vscode from "vscode";
import type { Client } from "../client";
import type { Abilities } from "../model/actions";
import { withSubagents } from "../model/tree";
import { SESSIONS_REQUEST, type GaugeParams, type SessionRef, type SessionRow } from "../protocol";

export class ShownSession implements vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<void>();
  readonly onDidChange = this.emitter.event;
  private gauge: GaugeParams | undefined;
  private chosen: SessionRow | undefined;
  /** All that the view of the window has shown last. */
  private rows: readonly SessionRow[] = [];
  private readonly subscription: vscode.Disposable;

  constructor(private readonly client: Client) {
    this.subscription = client.onGauge((gauge) => {
      const { isKnown: wasKnown, path: pathBefore } = this;
      this.gauge = gauge;
      if (gauge === undefined) {
        this.chosen = undefined;
      }
      this.tell(pathBefore, wasKnown);
    });
    this.setContextKeys();
  }

  /** Whether the server has said which session the gauge is of, if any. */
  get isKnown(): boolean {
    return this.gauge !== undefined;
  }

  get session(): SessionRef | undefined {
    return this.chosen?.session ?? this.gauge?.session ?? undefined;
  }

  /** What requests and commands are given; null where there is no session, which the server says in its words. */
  get path(): string | null {
    return this.session?.path ?? null;
  }

  get abilities(): Abilities {
    return abilities(this.chosen ?? this.gauge);
  }

  /** Return what can be done with a session; null is the shown one. */
  async abilitiesOf(path: string | null): Promise<Abilities> {
    if (path === null || path === this.path) {
      return this.abilities;
    }
    let known = this.known(path);
    if (known === undefined) {
      const { sessions } = await this.client.request(SESSIONS_REQUEST, { session: null });
      this.update(withSubagents(sessions));
      known = this.known(path);
    }
    // One of elsewhere, opened as a file: the server refuses what cannot be, in words that say why.
    return abilities(known ?? { canWrite: true, canNote: true, isAutomatic: false });
  }

  /** Return how a session is called in titles. */
  nameOf(path: string): string {
    if (this.gauge?.session?.path === path) {
      return `${this.gauge.title} · ${this.gauge.text}`;
    }
    const row = this.rows.find(({ session }) => session.path === path);
    return row === undefined ? path : `${row.title} · ${row.gauge}`;
  }

  choose(row: SessionRow): void {
    const pathBefore = this.path;
    // The gauge's session is not held on to: the views follow the gauge again.
    this.chosen = row.session.path === this.gauge?.session?.path ? undefined : row;
    this.tell(pathBefore);
  }

  /** Take over what is known of the sessions now; a chosen one that is gone is shown no more. */
  update(rows: readonly SessionRow[]): void {
    this.rows = rows;
    if (this.chosen === undefined) {
      return;
    }
    const pathBefore = this.path;
    this.chosen = rows.find((row) => row.session.path === pathBefore);
    this.tell(pathBefore);
  }

  dispose(): void {
    this.subscription.dispose();
    this.emitter.dispose();
  }

  private known(path: string): Pick<SessionRow, "canWrite" | "canNote" | "isAutomatic"> | undefined {
    return this.gauge?.session?.path === path ? this.gauge : this.rows.find(({ session }) => session.path === path);
  }

  private tell(pathBefore: string | null, wasKnown = this.isKnown): void {
    this.setContextKeys();
    if (this.path !== pathBefore || this.isKnown !== wasKnown) {
      this.emitter.fire();
    }
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
