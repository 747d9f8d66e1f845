"""Changing an agent's files: the one way to do it, and what a killed process left of it.

Every change goes: our lock, the look whether the agent leaves the file alone, a receipt, a
journal, the change, the receipt marked done, the journal cleared. Whatever of it was reached
when the process ended, `recover` finishes or takes back.
"""

import hashlib
import os
from pathlib import Path
from typing import assert_never

import msgspec
from msgspec.structs import asdict, replace

from ullage.core.change.edit import Append, FileChange, NewSession, Rewrite
from ullage.core.change.receipt import ChangeReason, FileBefore, Receipt
from ullage.errors import Refused, SessionLive, StorageError, WriteNotSupported
from ullage.store.change import session_lock
from ullage.store.change.journal import AppendIntent, Journal
from ullage.store.change.new_session import create_session
from ullage.store.change.own_bytes import blank, find_behind, settle
from ullage.store.change.receipts import add_receipt, mark_done, remove_receipt
from ullage.store.change.recovery import recover_session
from ullage.store.change.rewrite import rewrite
from ullage.store.files.atomic import write_all
from ullage.store.files.places import Places
from ullage.store.transcript import reader

HEAD_BYTES = 4096


class AppliedChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change that is on the disk."""

    path: Path
    """Where the session goes on: the transcript, or the file of a new session."""
    receipt_id: str
    backup: Path | None
    """The old file of a rewrite."""
    notes: tuple[str, ...]
    """What the user should know."""


def apply_change(
    path: Path,
    expected: reader.Fingerprint,
    change: FileChange,
    occasion: ChangeReason,
    places: Places,
) -> AppliedChange:
    """Make a change of a transcript that is still the one that `expected` describes.

    What an earlier process left unfinished in this session is seen to first. May be called
    inside `session_lock`. Waits up to five seconds for the agent to be quiet.

    Raises:
        ChangedMeanwhile: the transcript is not as it was read; nothing was changed.
        SessionLive: an agent or another Ullage is using the session; nothing was changed.
        WriteNotSupported: the file of a new session exists already.
        StateUnwritable: the state folder does not take the receipt; nothing was changed.
        StorageError: the disk does not take the change; the message says what was changed.
    """
    path = path.resolve()
    with session_lock.session_lock(path, places):
        recovered = recover_session(path, places)
        if not recovered.is_complete:
            # A new journal would take the place of the one that knows what is left.
            raise SessionLive(f"{'; '.join(recovered.notes)}: see to that first, then try again")
        journal = Journal(path, places)
        try:
            journal.require_readable()
            session_lock.wait_until_quiet(path, expected)
            planned = _plan_receipt(path, expected, change, occasion)
            receipt = add_receipt(planned, places)
            journal.receipt = (occasion.session_key, receipt.receipt_id, occasion.undoes)
            try:
                return _apply(path, expected, change, receipt, journal, places, recovered.notes)
            except Refused:
                remove_receipt(receipt, places)
                raise
        except OSError as error:
            raise StorageError(
                f"the disk failed while {path} was changed ({error.strerror or error}): the next"
                " `ullage` command that changes a session finishes that or takes it back"
            ) from None


def _apply(
    path: Path,
    expected: reader.Fingerprint,
    change: FileChange,
    receipt: Receipt,
    journal: Journal,
    places: Places,
    recovered: tuple[str, ...],
) -> AppliedChange:
    notes = list(recovered)
    written, backup, is_over = path, None, True
    match change:
        case Append():
            append(path, expected, change, journal)
        case Rewrite():
            rewritten = rewrite(path, expected, change, journal)
            backup = path.with_name(rewritten.backup)
            is_over = False
            if not rewritten.is_drained:
                notes.append(
                    f"another program still has the old {path.name} open: what it writes there"
                    f" goes to {rewritten.backup}, and is carried over when a session is changed"
                    " the next time"
                )
        case NewSession():
            written = path.with_name(change.name)
            is_over = create_session(written, (path, expected), change.data, journal)
        case _:
            assert_never(change)
    try:
        mark_done(
            receipt.occasion.session_key,
            receipt.receipt_id,
            receipt.occasion.undoes,
            places,
            backup=backup.name if backup else None,
        )
        if is_over:
            journal.clear()
    except StorageError as error:
        # The journal stays, so that the receipt is marked the next time.
        notes.append(f"the change was made, but not noted: {error}")
    return AppliedChange(
        path=written,
        receipt_id=receipt.receipt_id,
        backup=backup,
        notes=tuple(notes),
    )


def _plan_receipt(
    path: Path, seen: reader.Fingerprint, change: FileChange, occasion: ChangeReason
) -> Receipt:
    """Say what will be done.

    Raises:
        WriteNotSupported: the name of a new session would lead elsewhere, or to the old one.
    """
    with reader.open_to_read(path) as file:
        head = file.read(HEAD_BYTES)
    before = msgspec.convert({**asdict(seen), "head_sha256": _digest(head)}, FileBefore)
    planned = Receipt(
        receipt_id="",
        state="planned",
        occasion=occasion,
        change="append",
        path=os.fspath(path),
        before=before,
    )
    match change:
        case Append():
            left = seen.size_bytes + len(change.data)
            appended = _digest(change.data)
            return replace(planned, appended_sha256=appended, left_size_bytes=left)
        case Rewrite():
            appended = _digest(change.appended) if change.appended else ""
            growth = sum(len(line.new) - len(line.old) for line in change.changes)
            return replace(
                planned,
                change="rewrite",
                appended_sha256=appended,
                originals=change.changes,
                left_size_bytes=seen.size_bytes + growth + len(change.appended),
            )
        case NewSession(name=name):
            if Path(name).name != name or name in ("", "..", path.name):
                raise WriteNotSupported(f"{name!r} is no name for a session beside {path.name}")
            return replace(
                planned,
                change="new session",
                new_path=os.fspath(path.with_name(name)),
                new_sha256=_digest(change.data),
                left_size_bytes=len(change.data),
            )
        case _:
            assert_never(change)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def append(path: Path, expected: reader.Fingerprint, change: Append, journal: Journal) -> None:
    """Append whole lines to the file that `expected` describes.

    Raises:
        ChangedMeanwhile: the file is not as it was when it was read; nothing was written.
        SessionLive: someone else has the file open; nothing was written.
        StorageError: the disk did not take the lines; they were taken back.
    """
    intent = AppendIntent(
        device=expected.device,
        inode=expected.inode,
        offset=expected.size_bytes,
        data=change.data,
    )
    journal.write(intent)
    is_clean = True
    try:
        with session_lock.open_unchanged(path, expected) as file:
            is_clean = False
            try:
                _write(file, intent)
            except OSError as error:
                is_clean = _take_back(file, intent)
                raise StorageError(_failure(path, error, is_clean=is_clean)) from None
            if not _stands(file, intent):
                is_clean = True
                raise session_lock.changed_meanwhile(path)
    except BaseException:
        if is_clean:
            journal.clear()
        raise


def _write(file: session_lock.OpenTranscript, intent: AppendIntent) -> None:
    if file.is_exclusive:
        os.lseek(file.fd, intent.offset, os.SEEK_SET)
        write_all(file.fd, intent.data)
        os.fsync(file.fd)
        return
    fd = os.open(file.path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
    try:
        if os.write(fd, intent.data) < len(intent.data):
            # Another may write before we could go on: no second half then.
            raise OSError("the disk took a part only")
        os.fsync(fd)
    finally:
        os.close(fd)


def _stands(file: session_lock.OpenTranscript, intent: AppendIntent) -> bool:
    """Look where our lines went; behind another's they are blanked, as they would hide it.

    Raises:
        StorageError: they are not on the disk as they were written.
    """
    try:
        if reader.read_at(file.fd, intent.offset, len(intent.data)) == intent.data:
            return True
        begin = None if file.is_exclusive else find_behind(file.fd, intent)
        if begin is not None:
            blank(file.fd, begin, intent.data)
            return False
    except OSError as error:
        raise StorageError(_failure(file.path, error, is_clean=False)) from None
    error = OSError("what was read back is not what was written")
    raise StorageError(_failure(file.path, error, is_clean=False))


def _take_back(file: session_lock.OpenTranscript, intent: AppendIntent) -> bool:
    """Take back our own bytes after a failed write; whether none of them is left."""
    try:
        if not file.is_exclusive:
            return settle(file, intent) in ("absent", "withdrawn")
        end = os.lseek(file.fd, 0, os.SEEK_END)
        if end > intent.offset:
            if not intent.data.startswith(
                reader.read_at(file.fd, intent.offset, end - intent.offset)
            ):
                return False
            os.ftruncate(file.fd, intent.offset)
            os.fsync(file.fd)
    except OSError:
        return False
    return True


def _failure(path: Path, error: OSError, *, is_clean: bool) -> str:
    reason = error.strerror or str(error)
    if is_clean:
        return f"cannot write {path}: {reason}; nothing was changed. Free some space, or try again"
    return (
        f"cannot write {path}: {reason}. An unfinished line may be at its end: the next"
        " `ullage` command that changes a session takes it back"
    )
