"""Redo: what was undone last is current again, as long as nothing came since."""

import hashlib
from pathlib import Path
from typing import Literal

import msgspec

from ullage.app.change import undo
from ullage.app.change.make import change_target, way_on_lines
from ullage.app.config.load import refuse_read_only
from ullage.app.gauge.status_text import name_text
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.app.sessions.session import Session
from ullage.core.change.edit import FileChange, put_back, take_off
from ullage.core.change.receipt import Receipt
from ullage.core.config.settings import Config
from ullage.core.gauge.gauge import gauge_text
from ullage.errors import Refused
from ullage.store.change.new_session import bring_back
from ullage.store.change.receipts import (
    list_receipts,
    mark,
    refuse_second_session,
    sessions_made_from,
    sessions_withdrawn_from,
)
from ullage.store.change.session_lock import changed_meanwhile, session_lock
from ullage.store.files.places import Places
from ullage.store.transcript.reader import FileLines, look_at


class Return(msgspec.Struct, frozen=True, kw_only=True):
    """A session file that we made and took away comes back."""

    loaded: Loaded
    """The session that it was made from."""
    receipt: Receipt


class Redo(msgspec.Struct, frozen=True, kw_only=True):
    """What takes an undo back."""

    way: Return | undo.Withdrawal | undo.Reversal
    what: str
    """The kind of change that is made again, where that is known."""

    @property
    def loaded(self) -> Loaded:
        return self.way.loaded


class RedoReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage redo --json`."""

    outcome: Literal["planned", "redone"]
    path: str
    path_after: str
    """Where the session goes on."""
    tokens_before: int | None
    tokens_after: int | None
    resume: str | None = None
    """The command that goes on with the session; null where none does."""


def plan_redo(session: Session, config: Config, places: Places) -> Redo:
    """Work out how the last undo is taken back, without writing anything.

    Raises:
        Refused: nothing was undone last, or the session went on since.
        WriteNotSupported: this kind of session is not ours to write to.
    """
    lines, loaded = change_target(session).lines, load(session, config, places)
    withdrawn = _find_withdrawn(session.path, lines, places)
    if withdrawn is not None:
        return Redo(way=Return(loaded=loaded, receipt=withdrawn), what=withdrawn.occasion.kind)
    receipts = list_receipts(session.state_key, places).receipts
    undone = _find_undo(receipts, session.path)
    if undone is None:
        raise Refused(
            f"nothing was undone in {session.path.name} last that could be made again: its last"
            " change stands"
        )
    kinds = {receipt.receipt_id: receipt.occasion.kind for receipt in receipts}
    what = kinds.get(undone.occasion.undoes or "", "change")
    if undone.new_path == str(session.path.resolve()):
        withdrawal = undo.plan_withdrawal(loaded, undone, config, places)
        if withdrawal.n_left_behind:
            raise _went_on(session)
        return Redo(way=withdrawal, what=what)
    change = _take_back(lines, undone)
    if change is None:
        raise _went_on(session)
    return Redo(way=undo.plan_reversal(loaded, undone, change), what=what)


def redo(plan: Redo, config: Config, places: Places) -> undo.UndoResult:
    """Make again what was undone.

    Raises:
        SessionLive: an agent or another Ullage is using the session.
        ChangedMeanwhile: the transcript changed while we looked.
        AlreadyChanged: another session was made of it meanwhile.
        Refused: the session that was taken away is kept no more, or another has its name.
        StorageError: the disk does not take it.
        WriteNotSupported: the workspace is read-only.
    """
    match plan.way:
        case Return():
            return _bring_back(plan.way, config, places)
        case undo.Withdrawal():
            return undo.withdraw(plan.way, config, places)
        case undo.Reversal():
            return undo.reverse(plan.way, config, places)


def _find_withdrawn(path: Path, lines: FileLines, places: Places) -> Receipt | None:
    """Find the session that was made of the transcript as it is, and taken back last.

    None where another that was made of it since is still there: that one is its last change.
    """
    real, head_sha256 = path.resolve(), lines.digests(lines.size_bytes)[0]

    def is_of_now(receipt: Receipt) -> bool:
        before = receipt.before
        return (before.size_bytes, before.head_sha256) == (lines.size_bytes, head_sha256)

    if any(map(is_of_now, sessions_made_from(real, places))):
        return None
    withdrawn = filter(is_of_now, sessions_withdrawn_from(real, places))
    return max(withdrawn, key=lambda receipt: receipt.occasion.at, default=None)


def _find_undo(receipts: tuple[Receipt, ...], path: Path) -> Receipt | None:
    """Find the undo that was the last thing done, but for what was made again already."""
    undos = {receipt.receipt_id for receipt in receipts if receipt.occasion.kind == "undo"}
    for receipt in receipts:
        is_redo = receipt.occasion.undoes in undos
        if receipt.state != "done" or is_redo:
            continue
        if not undo.is_of_another_file(receipt, str(path.resolve())):
            return receipt if receipt.occasion.kind == "undo" else None
    return None


def _take_back(lines: FileLines, undone: Receipt) -> FileChange | None:
    """Give the change that leads back to before an undo; None where the file went on since."""
    if lines.size_bytes != undone.left_size_bytes:
        return None
    if undone.change == "rewrite":
        return put_back(lines, undone.originals)
    n_before = undone.before.size_bytes
    appended = b"".join(line.raw for line in lines.forward(n_before))
    is_as_left = hashlib.sha256(appended).hexdigest() == undone.appended_sha256
    return take_off(lines, n_before) if is_as_left else None


def _went_on(session: Session) -> Refused:
    return Refused(
        f"{session.path.name} went on since the undo, and nothing is made again over that: see what"
        f" is due now with `{session.command('context status')}`"
    )


def _bring_back(plan: Return, config: Config, places: Places) -> undo.UndoResult:
    receipt, before = plan.receipt, plan.loaded
    refuse_read_only(before.policy, config.policy)
    path, key = Path(receipt.new_path or ""), receipt.occasion.session_key
    seen = change_target(before.session).lines.fingerprint
    with session_lock(before.path, places):
        if look_at(before.path) != seen:
            raise changed_meanwhile(before.path)
        refuse_second_session(before.path, seen, places)
        bring_back(
            path,
            receipt.new_sha256 or "",
            session_key=key,
            receipt_id=receipt.receipt_id,
            places=places,
        )
        mark(key, receipt.receipt_id, "done", places)
    session = open_session(path)
    return undo.UndoResult(
        before=before,
        after=load(session, config, places),
        resume_command=session.agent.resume_command(session.header, path),
    )


def report_redo_plan(plan: Redo) -> RedoReport:
    if isinstance(plan.way, Return):
        occasion = plan.way.receipt.occasion
        return RedoReport(
            outcome="planned",
            path=str(plan.loaded.path),
            path_after=plan.way.receipt.new_path or "",
            tokens_before=plan.loaded.status.gauge.used_tokens,
            tokens_after=occasion.n_tokens_after,
        )
    planned = undo.report_undo_plan(plan.way)
    return RedoReport(
        outcome="planned",
        path=planned.path,
        path_after=planned.path_after,
        tokens_before=planned.tokens_before,
        tokens_after=planned.tokens_after,
    )


def report_redone(redone: undo.UndoResult) -> RedoReport:
    return RedoReport(
        outcome="redone",
        path=str(redone.before.path),
        path_after=str(redone.after.path),
        tokens_before=redone.before.status.gauge.used_tokens,
        tokens_after=redone.after.status.gauge.used_tokens,
        resume=redone.resume_command,
    )


def redo_plan_text(report: RedoReport) -> str:
    before, after = undo.tokens_text(report.tokens_before), undo.tokens_text(report.tokens_after)
    lines = [f"Current context: {before}", f"After redo: {after}"]
    if report.path_after != report.path:
        lines.append(f"The session goes on in {report.path_after}")
    return "\n".join(lines)


def redo_question(plan: Redo) -> str:
    return f"Make the {plan.what} of {name_text(plan.loaded)} again?"


def redone_line(plan: Redo, redone: undo.UndoResult) -> str:
    """Tell of it in one line."""
    before, after = redone.before.status.gauge, redone.after.status.gauge
    return f"Made again: the {plan.what} · {gauge_text(before)} → {gauge_text(after)} of the window"


def redone_text(plan: Redo, redone: undo.UndoResult) -> str:
    return "\n".join(
        (
            f"✓ {redone_line(plan, redone)}",
            f"  Session: {redone.after.session.header.session_id}",
            *way_on_lines(redone.resume_command),
        )
    )
