"""What is swept: every way in which Ullage writes, and how the naive write."""

import dataclasses

from crash import cache_operations as caches
from crash import change_operations as changes
from crash import checkpoint_operations as checkpoints
from crash import dream_operations as dreams
from crash import file_operations as files
from crash import index_operations as index
from crash import log_operations as logs
from crash import memory_operations as memory
from crash import state_operations as states
from crash import transcript_operations as transcripts
from crash import transfer_operations as transfers
from crash.checker import Expected
from crash.operation import Check, Operation, Preparation, Work
from store.changing import LINES, NEW_SESSION, OLD, OURS


def _alone(
    name: str,
    run: Work,
    check: Check,
    prepare: Preparation | None = None,
    *,
    original: bytes = OLD,
) -> Operation:
    """Make an operation that no agent writes beside."""
    return Operation(name=name, run=run, check=check, prepare=prepare, original=original, leaf=None)


BY_THEMSELVES = (
    Operation(name="append", run=transcripts.append, check=transcripts.check(transcripts.APPENDED)),
    Operation(
        name="append behind a torn line",
        run=transcripts.append_torn,
        check=transcripts.check(Expected(original=transcripts.TORN_LINES, ours=OURS)),
        original=OLD + transcripts.TORN,
    ),
    Operation(
        name="append beside a holder",
        run=transcripts.append,
        check=transcripts.check(transcripts.APPENDED),
        is_held=True,
    ),
    Operation(
        name="append without leases",
        run=transcripts.append,
        check=transcripts.check(transcripts.APPENDED),
        has_leases=False,
    ),
    Operation(
        name="undo of an append",
        run=transcripts.undo_append,
        check=transcripts.check(
            Expected(original=LINES, earlier=(OURS,), ours=transcripts.BACK, n_receipts=2)
        ),
        prepare=transcripts.append_before,
    ),
    Operation(
        name="rewrite", run=transcripts.rewrite, check=transcripts.check(transcripts.REWRITTEN)
    ),
    Operation(
        name="rewrite beside a holder",
        run=transcripts.rewrite,
        check=transcripts.check(transcripts.REWRITTEN),
        is_held=True,
    ),
    Operation(
        name="rewrite without leases",
        run=transcripts.rewrite,
        check=transcripts.check(transcripts.REWRITTEN),
        has_leases=False,
    ),
    Operation(
        name="undo of a rewrite",
        run=transcripts.undo_rewrite,
        check=transcripts.check(transcripts.UNDONE),
        prepare=transcripts.rewrite_before,
        leaf="c1",
    ),
    Operation(name="new session", run=transcripts.create, check=transcripts.check_created),
    Operation(
        name="session of its own",
        run=transcripts.create_beside,
        check=transcripts.check_created_beside,
    ),
    Operation(
        name="undo of a new session",
        run=transcripts.undo_create,
        check=transcripts.check_uncreated,
        prepare=transcripts.create_before,
        target=NEW_SESSION.name,
        leaf="n1",
    ),
    _alone(
        "redo of a new session",
        transcripts.redo_create,
        transcripts.check_brought_back,
        transcripts.take_away,
    ),
    _alone("a file of ours", files.replace_state, files.check_state, files.state_before),
    _alone(
        "settings of an agent", files.change_settings, files.check_settings, files.settings_before
    ),
    _alone("working state captured", states.capture, states.check_capture, states.capture_before),
    _alone(
        "working state captured while another writes",
        states.capture_beside,
        states.check_capture,
        states.capture_before,
    ),
    _alone(
        "working state captured by a hook",
        states.capture_for_later,
        states.check_capture,
        states.capture_before,
    ),
    _alone(
        "checkpoint",
        checkpoints.write_checkpoint,
        checkpoints.check_checkpoint,
        checkpoints.checkpoints_before,
    ),
    _alone("working state bundled", states.bundle, states.check_bundle, states.capture_before),
    _alone("flush of memory", logs.flush, logs.check_flushed, logs.log_before),
    _alone("flush into a new log", logs.flush, logs.check_begun),
    _alone("recall noted", memory.note_recall, memory.check_recall, memory.journal_before),
    _alone("origins noted", memory.note_lines, memory.check_lines, memory.journal_before),
    _alone("journal of memory begun", memory.note_lines, memory.check_first_lines),
    _alone("journal of memory folded", memory.note_lines, memory.check_fold, memory.fold_before),
    _alone("memory seen first", memory.look_first, memory.check_first_look, memory.memory_before),
    _alone("change of memory accepted", memory.accept, memory.check_accepted, memory.change_before),
    _alone("item stored", memory.store_item, memory.check_stored, memory.inbox_before),
    _alone("item stored in the log", memory.store_in_log, memory.check_logged),
    _alone("memory reviewed", changes.review, changes.check_reviewed, changes.review_before),
    _alone(
        "undo of a review", changes.undo_review, changes.check_unreviewed, changes.reviewed_before
    ),
    _alone(
        "undo of a review of an inbox edited since",
        changes.undo_review,
        changes.check_put_back,
        changes.edited_before,
    ),
    _alone("dream", dreams.dream_now, dreams.check_dreamt, dreams.dream_before),
    _alone("backfill", dreams.backfill_now, dreams.check_backfilled, dreams.sessions_before),
    _alone("items decided", dreams.decide, dreams.check_decided, dreams.decisions_before),
    _alone(
        "decisions taken back", dreams.undo_decisions, dreams.check_undecided, dreams.decided_before
    ),
    _alone("index of memory begun", index.search, index.check_searched, index.begin),
    _alone("index of memory changed", index.search, index.check_searched, index.change),
    _alone("index of memory built again", index.search, index.check_searched, index.damage),
    Operation(
        name="branch",
        run=transfers.branch,
        check=transfers.check_session_made,
        original=transfers.REAL.data,
        leaf=transfers.LEAF,
    ),
    Operation(
        name="restore into a new session",
        run=transfers.restore_apart,
        check=transfers.check_session_made,
        original=transfers.REAL.data,
        leaf=transfers.LEAF,
    ),
    _alone(
        "import",
        transfers.import_bundle,
        transfers.check_imported,
        transfers.bundle_before,
        original=transfers.REAL.data,
    ),
    _alone(
        "export", transfers.export_bundle, transfers.check_exported, original=transfers.REAL.data
    ),
    _alone("install", transfers.install, transfers.check_installed, transfers.agent_before),
    _alone(
        "uninstall", transfers.uninstall, transfers.check_uninstalled, transfers.installed_before
    ),
    _alone("pins", caches.pin, caches.check_pins, caches.pins_before),
    _alone(
        "automatic runs switched off", caches.switch_off, caches.check_switch, caches.auto_before
    ),
    _alone(
        "what a hook found", caches.leave_snapshot, caches.check_snapshot, caches.snapshot_before
    ),
    _alone(
        "tool call laid down by a hook",
        caches.lay_call_down,
        caches.check_laid_down,
        caches.spool_before,
    ),
    _alone("prepared summary", caches.prepare, caches.check_prepared, caches.prepared_before),
    _alone("preview", caches.preview, caches.check_preview, caches.preview_before),
    _alone("token counts", caches.count_texts, caches.check_counts, caches.counts_before),
    _alone("sessions listed", caches.list_again, caches.check_listed, caches.folders_before),
)

SAME_TWICE = (
    "flush of memory",
    "flush into a new log",
    "item stored",
    "item stored in the log",
    "working state captured",
    "working state captured by a hook",
    "memory reviewed",
    "index of memory changed",
    "install",
    "pins",
    "automatic runs switched off",
    "what a hook found",
    "prepared summary",
    "preview",
    "token counts",
    "sessions listed",
)
"""What comes to the same where two do it at once."""


def _twice(operation: Operation) -> Operation:
    """Let another Ullage do the same, planned from what it finds."""
    return dataclasses.replace(
        operation,
        name=f"{operation.name}, by two at once",
        beside=lambda root: operation.run(root, None),
    )


BY_TWO = (
    *(_twice(each) for each in BY_THEMSELVES if each.name in SAME_TWICE),
    Operation(
        name="append by two at once",
        run=transcripts.append,
        check=transcripts.check(transcripts.APPENDED),
        leaf=None,
        beside=transcripts.append_once,
    ),
)
OPERATIONS = (*BY_THEMSELVES, *BY_TWO)
