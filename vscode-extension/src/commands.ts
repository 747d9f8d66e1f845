/** The commands of the palette, the views and the menus, and what each does. */

import { homedir } from "node:os";
import * as vscode from "vscode";
import type { Client } from "./client";
import type { OwnPlaces } from "./environments";
import type { Logger } from "./logger";
import { debugText } from "./model/debugInformation";
import {
  ACCEPT_MEMORY_COMMAND,
  AUTO_COMMAND,
  CHECKPOINT_COMMAND,
  FLUSH_COMMAND,
  SNOOZE_COMMAND,
  REDO_COMMAND,
  UNDO_COMMAND,
  UNPIN_COMMAND,
  type Commands,
  type Outcome,
  type SessionArgument,
} from "./protocol";
import { openInterpreterSetting, serverOptions } from "./settings";
import { compareCheckpoints, restore, restoreCheckpoint } from "./views/checkpoints";
import { chooseSession } from "./views/chooseSession";
import type { ServerInstallation } from "./views/installation";
import { dreamNow, editItem, reviewItem, undoReview } from "./views/memoryReview";
import { searchMemory } from "./views/memorySearch";
import { showMenu } from "./views/menu";
import { showOutcome, showQuietly } from "./views/outcome";
import { pinMessage, pinText } from "./views/pin";
import type { PlotPanel } from "./views/plot";
import type { CompactionPreview } from "./views/preview";
import { withPatience } from "./views/progress";
import { pruneItem, pruneToolResults, sayWhyNotPruned } from "./views/prune";
import { sessionOf, subjectOf } from "./views/sessionOf";
import type { ShownSession } from "./views/shownSession";
import type { Trees } from "./views/trees";
import { showUsage } from "./views/usage";
import { showSession, showVirtualDocument } from "./views/virtualDocument";

/** What the key of a command for a row gives: the row that the keyboard is on is meant. */
const FOCUSED = "focused";

/** What the commands work with. */
export interface Parts {
  readonly client: Client;
  readonly installation: ServerInstallation;
  readonly shown: ShownSession;
  readonly trees: Trees;
  readonly preview: CompactionPreview;
  readonly plot: PlotPanel;
  readonly logger: Logger;
  readonly own: OwnPlaces;
}

/** A command of the server that takes a session and nothing else. */
type SessionCommand = {
  [Name in keyof Commands]: Commands[Name] extends [SessionArgument, Outcome] ? Name : never;
}[keyof Commands];

/** Runs what the user asked for; what goes wrong is told to the user. */
export type Run = (action: () => unknown) => Promise<void>;

export function registerCommands(parts: Parts, run: Run): vscode.Disposable {
  const { client, installation, shown, trees, preview, plot, logger } = parts;
  const register = (command: string, action: (target?: unknown) => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(command, (target?: unknown) => run(() => action(target)));
  const execute = async (command: SessionCommand, target: unknown): Promise<void> => {
    showOutcome(client, await client.execute(command, { session: sessionOf(target, shown) }));
  };
  const switchAutomatic = async (target: unknown, isOn: boolean): Promise<void> => {
    showOutcome(client, await client.execute(AUTO_COMMAND, { session: sessionOf(target, shown), isOn }));
  };

  return vscode.Disposable.from(
    register("ullage.showMenu", (target) => showMenu(client, shown, target)),
    register("ullage.showStatus", (target) => showSession(client, sessionOf(target, shown), "Context Status")),
    register("ullage.showSession", (target) => showSession(client, sessionOf(target, shown), "Context.md")),
    register("ullage.showPlot", (target) => plot.show(sessionOf(target, shown))),
    register("ullage.showUsage", () => showUsage(client)),
    register("ullage.showWindow", () => vscode.commands.executeCommand("ullage.window.focus")),
    register("ullage.chooseSession", (target) => chooseSession(client, shown, target)),
    register("ullage.refreshViews", () => {
      trees.refresh();
    }),

    register("ullage.compactSession", (target) =>
      preview.show({ session: sessionOf(target, shown), layer: null, focus: null }),
    ),
    register("ullage.showPreview", () => preview.showAgain()),
    register("ullage.applyPreview", (target) => preview.apply(fileOf(target))),
    register("ullage.regeneratePreview", (target) => preview.regenerate(fileOf(target))),
    register("ullage.discardPreview", (target) => preview.discard(fileOf(target))),
    register("ullage.pruneToolResults", (target) => pruneToolResults(client, sessionOf(target, shown))),
    register("ullage.pruneItem", async (target) => {
      // A key gives no row; who called it for one that is gone since does not mean the focused one.
      const subject = target === FOCUSED ? (await trees.focusedRow())?.subject : subjectOf(target);
      if (subject?.kind === "window" && subject.row.item !== null) {
        await pruneItem(client, subject.session.session.path, subject.row.item);
      } else {
        sayWhyNotPruned(subject);
      }
    }),
    register("ullage.undoChange", async (target) => {
      showOutcome(client, await client.execute(UNDO_COMMAND, { session: sessionOf(target, shown), change: null }));
    }),
    register("ullage.redoChange", (target) => execute(REDO_COMMAND, target)),

    register("ullage.writeCheckpoint", (target) => execute(CHECKPOINT_COMMAND, target)),
    register("ullage.restoreCheckpoint", async (target) => {
      const path = sessionOf(target, shown);
      const subject = subjectOf(target);
      await restoreCheckpoint(client, shown, path, subject?.kind === "checkpoint" ? subject.row : undefined);
    }),
    register("ullage.restoreIntoNewSession", async (target) => {
      const subject = subjectOf(target);
      if (subject?.kind === "checkpoint") {
        await restore(client, subject.session, subject.row.checkpoint, "new");
      }
    }),
    register("ullage.copyResumeText", async (target) => {
      const subject = subjectOf(target);
      if (subject?.kind === "checkpoint") {
        await restore(client, subject.session, subject.row.checkpoint, "text");
      }
    }),
    register("ullage.compareCheckpoints", (target) => {
      const subject = subjectOf(target);
      return compareCheckpoints(
        client,
        shown,
        sessionOf(target, shown),
        subject?.kind === "checkpoint" ? subject.row : undefined,
      );
    }),

    register("ullage.pinMessage", (target) => {
      const subject = subjectOf(target);
      const entry = subject?.kind === "window" ? subject.row.entry : null;
      return pinMessage(client, sessionOf(target, shown), entry ?? undefined);
    }),
    register("ullage.removePin", async (target) => {
      const subject = subjectOf(target);
      if (subject?.kind === "window" && subject.row.pin !== null) {
        const argument = { session: subject.session.session.path, text: subject.row.pin };
        showOutcome(client, await client.execute(UNPIN_COMMAND, argument));
      }
    }),
    register("ullage.pinText", (target) => pinText(client, shown, sessionOf(target, shown))),
    register("ullage.flushMemory", async (target) => {
      const session = sessionOf(target, shown);
      const outcome = await withPatience(vscode.l10n.t("Looking for what is worth remembering…"), (options) =>
        client.execute(FLUSH_COMMAND, { session }, options),
      );
      if (outcome !== undefined) {
        showOutcome(client, outcome);
      }
    }),

    register("ullage.searchMemory", () => searchMemory(client)),
    register("ullage.showMemoryChange", async (target) => {
      const subject = subjectOf(target);
      if (subject?.kind === "memory" && subject.row.uri !== null) {
        await showVirtualDocument(vscode.Uri.parse(subject.row.uri, true));
      }
    }),
    register("ullage.acceptMemoryChange", async (target) => {
      const subject = subjectOf(target);
      if (subject?.kind === "memory" && subject.row.sha256 !== null) {
        const { path, sha256 } = subject.row;
        showQuietly((await client.execute(ACCEPT_MEMORY_COMMAND, { path, sha256 })).message);
      }
    }),

    register("ullage.dreamNow", () => dreamNow(client)),
    register("ullage.acceptInboxItem", (target) => reviewItem(client, subjectOf(target), "accept")),
    register("ullage.rejectInboxItem", (target) => reviewItem(client, subjectOf(target), "reject")),
    register("ullage.editInboxItem", (target) => editItem(client, subjectOf(target))),
    register("ullage.undoLastReview", () => undoReview(client, { path: null, change: null })),

    register("ullage.turnAutomaticOn", (target) => switchAutomatic(target, true)),
    register("ullage.turnAutomaticOff", (target) => switchAutomatic(target, false)),
    register("ullage.snoozeReminders", (target) => execute(SNOOZE_COMMAND, target)),

    register("ullage.installServer", () => installation.install()),
    register("ullage.restartServer", () => client.restart({ isAskedFor: true })),
    register("ullage.openInterpreterSetting", () => openInterpreterSetting()),
    register("ullage.showLogs", () => {
      logger.show();
    }),
    register("ullage.copyDebugInformation", () => copyDebugInformation(parts)),
  );
}

/** Return the file in whose title a command was chosen; undefined from the palette. */
function fileOf(target: unknown): vscode.Uri | undefined {
  return target instanceof vscode.Uri ? target : undefined;
}

async function copyDebugInformation({ client, own }: Parts): Promise<void> {
  const text = debugText(
    {
      extensionVersion: own.version,
      editorVersion: `${vscode.env.appName} ${vscode.version}`,
      platform: `${process.platform} ${process.arch}`,
      remote: vscode.env.remoteName,
      isTrusted: vscode.workspace.isTrusted,
      nFolders: vscode.workspace.workspaceFolders?.length ?? 0,
      serverState: client.health.state,
      serverVersion: client.serverVersion,
      commandLine: client.commandLine,
      settings: serverOptions(),
    },
    homedir(),
    process.platform === "linux",
  );
  await vscode.env.clipboard.writeText(text);
  void vscode.window.showInformationMessage(
    vscode.l10n.t("Copied: versions, platform, interpreter and settings. Nothing of any session, no pins, no addresses."),
  );
}
