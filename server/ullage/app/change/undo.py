"""Undo: the context from before the last compaction, prune or restore is current again."""

from pathlib import Path
from typing import Literal

import msgspec

from ullage.app.change import make
from ullage.app.change.auto import decline
from ullage.app.change.nudge import remember_return, strongest_layer
from ullage.app.config.load import refuse_read_only
from ullage.app.gauge.status_text import name_text
from ullage.app.memory.report import find_flushed_log
from ullage.app.sessions.load import Loaded, load, measure_reading
from ullage.app.sessions.open import open_session, refuse_running
from ullage.app.sessions.session import ChangeTarget, Session
from ullage.core.change.edit import FileChange, NewSession, UndoEdit
from ullage.core.change.receipt import Receipt
from ullage.core.config.settings import Config
from ullage.core.gauge.gauge import gauge_text
from ullage.core.text.prose import plural
from ullage.core.text.shell_word import quote_word
from ullage.core.transcript.context import Compaction, PruneRecord
from ullage.errors import Refused
from ullage.store.change.new_session import has_digest, remove_new_session
from ullage.store.change.receipts import list_receipts, mark, sessions_made_from
from ullage.store.files.places import Places, is_there


class Withdrawal(msgspec.Struct, frozen=True, kw_only=True):
    """A session file that we made goes, and the session before it is the current one again."""

    loaded: Loaded
    receipt: Receipt
    old: Loaded
    n_left_behind: int
    """Messages that came since: then the file stays, and they in it."""


class Reversal(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the transcript that leads back."""

    change: make.ChangePlan
    receipt: Receipt | None
    """Of what is taken back; None for what the agent itself did."""
    n_left_behind: int
    """Messages since the change that stay in the old session, where a new one is made."""

    @property
    def loaded(self) -> Loaded:
        return self.change.loaded


class Return(msgspec.Struct, frozen=True, kw_only=True):
    """A session file that we made and took away comes back; what a redo may be."""

    loaded: Loaded
    """The session that it was made from."""
    receipt: Receipt


class UndoResult(msgspec.Struct, frozen=True, kw_only=True):
    """What an undo or a redo did."""

    outcome: Literal["undone", "redone"]
    what: str
    """The kind of change that was taken back or made again, where that is known."""
    before: Loaded
    after: Loaded
    resume_command: str | None
    log_name: str | None = None
    """The daily log that keeps what the compaction wrote down."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether the session goes on in another file."""
        return self.after.path != self.before.path


class UndoReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage undo --json` and `ullage redo --json`."""

    outcome: Literal["planned", "undone", "redone"]
    path: str
    path_after: str
    """Where the session goes on; another file where ours goes or a new one is made."""
    tokens_before: int | None
    tokens_after: int | None
    messages_left_behind: int = 0
    """Messages since the change that are not in the session that goes on."""
    resume: str | None = None
    """The command that goes on with the session; null where none does."""


def plan_undo(session: Session, config: Config, places: Places) -> Withdrawal | Reversal:
    """Work out how the last compaction or prune is taken back, without writing anything.

    Raises:
        Refused: there is none, or the session went on after it.
        WriteNotSupported: this kind of session is not ours to write to.
    """
    target = make.change_target(session, "there is nothing that it could take back")
    loaded = load(session, config, places)
    path = str(session.path.resolve())
    receipts = [
        receipt
        for receipt in list_receipts(session.state_key, places).receipts
        if receipt.state == "done"
        and receipt.occasion.kind != "undo"
        and not is_of_another_file(receipt, path)
    ]
    receipt = receipts[0] if receipts else None
    if receipt is not None and receipt.new_path == path:
        return plan_withdrawal(loaded, receipt, config, places)
    copies = sessions_made_from(Path(path), places)
    made = max(copies, key=lambda receipt: receipt.occasion.at, default=None)
    if made is not None:
        copy = load(open_session(Path(made.new_path or "")), config, places)
        withdrawal = plan_withdrawal(copy, made, config, places)
        if not withdrawal.n_left_behind:
            return withdrawal
        raise Refused(
            "this session itself was not changed, it goes on in a copy: take that back with"
            f" `ullage undo --session {quote_word(made.new_path or '')}`"
        )
    timestamp = make.now_text()

    def edit(entry_id: str) -> UndoEdit:
        return UndoEdit(entry_id=entry_id, timestamp=timestamp)

    newest = {receipt.occasion.kind: receipt for receipt in reversed(receipts)}
    editor, lines, context = target.editor, target.lines, loaded.context
    _, taken_out = make.choose_entry_id(
        loaded, "undo", lambda named: editor.undo_restore(lines, context, edit(named))
    )
    if taken_out is not None:
        return _undone_restore(loaded, newest.get("restore"), taken_out)
    last = make.last_change(loaded.context)
    if last is None:
        raise Refused("there is no compaction or prune to undo")
    if isinstance(last, PruneRecord):
        receipt = newest.get("prune")
        return plan_reversal(loaded, receipt, _undone_prune(loaded, target, receipt))
    truncation = newest.get("compaction")
    if truncation is not None and truncation.originals and _is_of(truncation, last):
        put_back = editor.put_back(lines, truncation.originals)
        if put_back is None:
            raise Refused(
                "the file does not begin as it was left: the one from before lies beside it as"
                f" {truncation.backup or f'{session.path.name}.bak'}"
            )
        return plan_reversal(loaded, truncation, put_back)
    _, change = make.choose_entry_id(
        loaded, "undo", lambda named: editor.undo_compaction(lines, context, last, edit(named))
    )
    return plan_reversal(loaded, receipt, change)


def is_of_another_file(receipt: Receipt, path: str) -> bool:
    """Whether a file that is still there was changed, which has the same id.

    Where a format has no id, the file's name is it.
    """
    return path not in (receipt.path, receipt.new_path) and is_there(Path(receipt.path))


def plan_undo_of(made: make.MadeChange, config: Config, places: Places) -> Withdrawal | Reversal:
    """Work out how one change is taken back, and no other.

    Raises:
        Refused: it was taken back, or something else was done to the session since.
        WriteNotSupported: this kind of session is not ours to write to.
    """
    path = made.path
    plan = plan_undo(open_session(path), config, places)
    is_last = plan.receipt is not None and plan.receipt.receipt_id == made.receipt_id
    if not is_last or make.last_change(plan.loaded.context) != made.last:
        raise changed_since(path)
    return plan


def changed_since(path: Path) -> Refused:
    """Say why a change that was told of is not taken back any more."""
    return Refused(
        "the session was changed again since, and only its last change can be taken back: see it"
        f" with `ullage undo --dry-run --session {quote_word(str(path))}`"
    )


def undo(plan: Withdrawal | Reversal, config: Config, places: Places) -> UndoResult:
    """Take back what was planned to be taken back.

    Raises:
        SessionLive: an agent or another Ullage is using the session.
        ChangedMeanwhile: the transcript changed while we looked.
        StorageError: the disk does not take it.
        WriteNotSupported: the workspace is read-only.
    """
    undone = (
        withdraw(plan, config, places)
        if isinstance(plan, Withdrawal)
        else reverse(plan, config, places)
    )
    # Else the same compaction would be asked about or due again at once.
    remember_return(undone.after, places)
    occasion = None if plan.receipt is None else plan.receipt.occasion
    if occasion is None or occasion.kind != "restore":
        is_full = occasion is not None and occasion.layer == "full"
        decline(undone.after, "full" if is_full else strongest_layer(undone.after), places)
    log_name = find_flushed_log(undone.after, plan.receipt, places)
    return msgspec.structs.replace(undone, log_name=log_name)


def reverse(plan: Reversal, config: Config, places: Places) -> UndoResult:
    receipt = plan.receipt
    undoes = None if receipt is None else receipt.receipt_id
    made = make.make_change(plan.change, config, places, kind="undo", undoes=undoes)
    before = plan.loaded
    after = measure_reading(made.session, made.reading, config, before.count, before.secrets)
    return UndoResult(
        outcome="undone",
        what=_kind_text(plan),
        before=before,
        after=after,
        resume_command=made.resume_command,
    )


def _undone_restore(loaded: Loaded, receipt: Receipt | None, taken_out: FileChange) -> Reversal:
    reversal = plan_reversal(loaded, receipt, taken_out)
    if not reversal.change.context_after.items:
        raise Refused(
            "this session was begun with the checkpoint and holds nothing else: delete"
            f" {loaded.path}, the other session is as it was"
        )
    return reversal


def _is_of(receipt: Receipt, compaction: Compaction) -> bool:
    """Whether a rewrite put this compaction into the file."""
    return any(compaction.entry_id.encode() in change.new for change in receipt.originals[:1])


def _undone_prune(loaded: Loaded, target: ChangeTarget, receipt: Receipt | None) -> FileChange:
    if receipt is None:
        raise Refused(
            "the original lines are not in the state folder: the file from before the prune"
            f" lies beside it as {loaded.path.name}.bak"
        )
    change = target.editor.undo_prune(target.lines, receipt.originals)
    if change is None:
        raise Refused(
            "the file does not hold the pruned lines any more: the one from before the prune"
            f" lies beside it as {receipt.backup or f'{loaded.path.name}.bak'}"
        )
    return change


def plan_reversal(loaded: Loaded, receipt: Receipt | None, file_change: FileChange) -> Reversal:
    change = make.plan_change(loaded, "undo", lambda _named, _before, _after: file_change)
    is_new = isinstance(file_change, NewSession)
    n_left_behind = _messages_since(loaded) if is_new else 0
    return Reversal(change=change, receipt=receipt, n_left_behind=n_left_behind)


def plan_withdrawal(loaded: Loaded, receipt: Receipt, config: Config, places: Places) -> Withdrawal:
    old = load(open_session(Path(receipt.path)), config, places)
    is_ours = has_digest(loaded.path, receipt.new_sha256 or "")
    n_left_behind = 0 if is_ours else max(1, _messages_since(loaded))
    return Withdrawal(loaded=loaded, receipt=receipt, old=old, n_left_behind=n_left_behind)


def _messages_since(loaded: Loaded) -> int:
    """Count the messages that came after the last compaction or prune."""
    talk = ("user", "assistant", "tool results")
    items = loaded.context.items
    return sum(item.is_after_boundary and item.category in talk for item in items)


def withdraw(plan: Withdrawal, config: Config, places: Places) -> UndoResult:
    session, receipt = plan.loaded.session, plan.receipt
    refuse_running(session, places)
    refuse_read_only(plan.loaded.policy, config.policy)
    key = receipt.occasion.session_key
    if not plan.n_left_behind:
        remove_new_session(
            session.path,
            receipt.new_sha256 or "",
            session_key=key,
            receipt_id=receipt.receipt_id,
            places=places,
        )
    mark(
        key,
        receipt.receipt_id,
        "undone",
        places,
        left_size_bytes=plan.loaded.session.lines.size_bytes,
    )
    session = plan.old.session
    return UndoResult(
        outcome="undone",
        what=_kind_text(plan),
        before=plan.loaded,
        after=plan.old,
        resume_command=session.agent.resume_command(session.header, plan.old.path),
    )


def report_undo_plan(plan: Withdrawal | Reversal | Return) -> UndoReport:
    before, n_left_behind = plan.loaded.status.gauge.used_tokens, 0
    match plan:
        case Withdrawal():
            path_after, after = str(plan.old.path), plan.old.status.gauge.used_tokens
            n_left_behind = plan.n_left_behind
        case Reversal(change=change):
            path_after, after = str(change.path_after), change.n_tokens_after
            before, n_left_behind = change.n_tokens_before, plan.n_left_behind
        case Return(receipt=receipt):
            path_after, after = receipt.new_path or "", receipt.occasion.n_tokens_after
    return UndoReport(
        outcome="planned",
        path=str(plan.loaded.path),
        path_after=path_after,
        tokens_before=before,
        tokens_after=after,
        messages_left_behind=n_left_behind,
    )


def report_undone(done: UndoResult) -> UndoReport:
    return UndoReport(
        outcome=done.outcome,
        path=str(done.before.path),
        path_after=str(done.after.path),
        tokens_before=done.before.status.gauge.used_tokens,
        tokens_after=done.after.status.gauge.used_tokens,
        resume=done.resume_command,
    )


def undo_plan_text(report: UndoReport, verb: Literal["undo", "redo"]) -> str:
    lines = [
        f"Current context: {_tokens_text(report.tokens_before)}",
        f"After {verb}: {_tokens_text(report.tokens_after)}",
    ]
    if report.path_after != report.path:
        lines.append(f"The session goes on in {report.path_after}")
    if report.messages_left_behind:
        n_messages = report.messages_left_behind
        messages, stay = plural(n_messages, "message"), "stays" if n_messages == 1 else "stay"
        lines.append(
            f"The {messages} that came since will not be in it, and {stay} in {report.path}"
        )
    return "\n".join(lines)


def undo_question(plan: Withdrawal | Reversal) -> str:
    return f"Undo the last {_kind_text(plan)} of {name_text(plan.loaded)}?"


def undone_line(done: UndoResult) -> str:
    """Tell of an undo or a redo in one line."""
    line = _what_was_done(done)
    return line if done.log_name is None else f"{line}. {_stays(done.log_name)}"


def _what_was_done(done: UndoResult) -> str:
    verb = "Undone" if done.outcome == "undone" else "Made again"
    before, after = done.before.status.gauge, done.after.status.gauge
    return f"{verb}: the {done.what} · {gauge_text(before)} → {gauge_text(after)} of the window"


def _stays(log_name: str) -> str:
    return f"What was written to {log_name} stays there"


def _kind_text(plan: Withdrawal | Reversal) -> str:
    return "change" if plan.receipt is None else plan.receipt.occasion.kind


def undone_text(done: UndoResult) -> str:
    return "\n".join(
        (
            f"✓ {_what_was_done(done)}",
            f"  Session: {name_text(done.after)}",
            *(() if done.log_name is None else (f"  {_stays(done.log_name)}",)),
            *make.way_on_lines(done.resume_command),
        )
    )


def _tokens_text(n_tokens: int | None) -> str:
    return "unknown" if n_tokens is None else f"{n_tokens:,} tokens"
