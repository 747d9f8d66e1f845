"""Redo: what was undone last is current again, as long as nothing came since."""

import hashlib
from pathlib import Path

import msgspec

from ullage.app.change import undo
from ullage.app.change.make import change_target
from ullage.app.config.load import refuse_read_only
from ullage.app.gauge.status_text import name_text
from ullage.app.sessions.copy import refuse_second_copy
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.app.sessions.session import Session
from ullage.core.change.edit import FileChange, put_back, take_off
from ullage.core.change.receipt import Receipt
from ullage.core.config.settings import Config
from ullage.errors import Refused
from ullage.store.change.new_session import bring_back, refuse_other
from ullage.store.change.receipts import (
    list_receipts,
    mark,
    sessions_made_from,
    sessions_withdrawn_from,
)
from ullage.store.change.session_lock import changed_meanwhile, session_lock
from ullage.store.files.places import Places
from ullage.store.transcript.reader import FileLines, look_at

_NOTHING = "there is nothing that it could make again"


class Redo(msgspec.Struct, frozen=True, kw_only=True):
    """What takes an undo back."""

    way: undo.Return | undo.Withdrawal | undo.Reversal
    what: str
    """The kind of change that is made again, where that is known."""

    @property
    def loaded(self) -> Loaded:
        return self.way.loaded


def plan_redo(session: Session, config: Config, places: Places) -> Redo:
    """Work out how the last undo is taken back, without writing anything.

    Raises:
        Refused: nothing was undone last, or the session went on since.
        WriteNotSupported: this kind of session is not ours to write to.
    """
    lines, loaded = change_target(session, _NOTHING).lines, load(session, config, places)
    withdrawn = _find_withdrawn(session.path, lines, places)
    if withdrawn is not None:
        refuse_other(Path(withdrawn.new_path or ""), withdrawn.new_sha256 or "")
        return Redo(way=undo.Return(loaded=loaded, receipt=withdrawn), what=withdrawn.occasion.kind)
    receipts = list_receipts(session.state_key, places).receipts
    undone = _find_undo(receipts, session.path)
    if undone is None:
        raise Refused(
            "there is nothing to make again: what was done to this session last is no undo"
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
        case undo.Return():
            done = _bring_back(plan.way, config, places)
        case undo.Withdrawal():
            done = undo.withdraw(plan.way, config, places)
        case undo.Reversal():
            done = undo.reverse(plan.way, config, places)
    return msgspec.structs.replace(done, outcome="redone", what=plan.what)


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
        "the session went on since the undo, and nothing is made again over that: see what"
        f" is due now with `{session.command('context status')}`"
    )


def _bring_back(plan: undo.Return, config: Config, places: Places) -> undo.UndoResult:
    receipt, before = plan.receipt, plan.loaded
    refuse_read_only(before.policy, config.policy)
    path, key = Path(receipt.new_path or ""), receipt.occasion.session_key
    seen = change_target(before.session).lines.fingerprint
    with session_lock(before.path, places):
        if look_at(before.path) != seen:
            raise changed_meanwhile(before.path)
        refuse_second_copy(before.session, places, before.known_secrets)
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
        outcome="redone",
        what=receipt.occasion.kind,
        before=before,
        after=load(session, config, places),
        resume_command=session.agent.resume_command(session.header, path),
    )


def redo_question(plan: Redo) -> str:
    return f"Make the {plan.what} of {name_text(plan.loaded)} again?"
