"""Rewriting a transcript of which some lines change; the old file stays beside it.

The rules of docs/safety.md, "A rewrite": the new file is built under a name of its own, line by
line, byte for byte; the old one gets a second name that keeps it; the new one takes the place of
the old by a rename, under leases where there are leases, so that who opens the transcript waits.
What someone wrote into the old file who had found it before the rename is carried over.
"""

import hashlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from ullage.core.change.edit import Rewrite
from ullage.errors import SessionLive, StorageError, UllageError
from ullage.store.change import session_lock
from ullage.store.change.journal import Journal, RewriteIntent
from ullage.store.files import atomic
from ullage.store.transcript import reader


class Rewritten(msgspec.Struct, frozen=True, kw_only=True):
    backup: str
    is_drained: bool
    """Whether no one had the old file open any more when we left it."""


def rewrite(
    path: Path, expected: reader.Fingerprint, change: Rewrite, journal: Journal
) -> Rewritten:
    """Change lines of the file that `expected` describes.

    Raises:
        ChangedMeanwhile: the file is not as it was when it was read; it is untouched.
        SessionLive: someone else has the file open; it is untouched.
        StorageError: the disk does not take it; the file is untouched, or, as the message
            says, changed without the disk's word that it lasts.
    """
    return exchange(path, expected, selected_lines(path, expected, change), journal)


def selected_lines(path: Path, expected: reader.Fingerprint, change: Rewrite) -> Iterator[bytes]:
    """Yield the bytes of the new file.

    Raises:
        ChangedMeanwhile: a line is not the one that was to be changed.
    """
    with reader.open_to_read(path) as file:
        if reader.fingerprint_of(os.fstat(file.fileno())) != expected:
            raise session_lock.changed_meanwhile(path)
        fd, at = file.fileno(), 0
        for line in change.changes:
            yield from reader.read_blocks(fd, at, line.offset)
            if line.offset < at or reader.read_at(fd, line.offset, len(line.old)) != line.old:
                raise session_lock.changed_meanwhile(path)
            yield line.new
            at = line.offset + len(line.old)
        yield from reader.read_blocks(fd, at, expected.size_bytes)
        yield change.appended


def exchange(
    path: Path, expected: reader.Fingerprint, pieces: Iterable[bytes], journal: Journal
) -> Rewritten:
    """Put a new file in the place of the transcript and keep the old one beside it."""
    temporary = atomic.temporary_beside(path)
    intent = RewriteIntent(
        device=expected.device,
        inode=expected.inode,
        size_bytes=expected.size_bytes,
        temporary=temporary.name,
    )
    journal.write(intent)
    try:
        built = _build(path, temporary, pieces)
        intent = _keep_old(path, expected, built, intent, journal)
        is_drained, failure = _swap(path, temporary, expected, intent)
    except BaseException as error:
        if withdraw(path, journal):
            journal.clear()
        if isinstance(error, OSError):
            raise StorageError(
                f"cannot write {path}: {error.strerror or error}; it was not changed. Free some"
                " space, or check the folder's permissions"
            ) from None
        raise
    if failure is not None:
        raise StorageError(
            f"{path} was changed, but the disk did not confirm it ({failure}): run the next"
            " `ullage` command once the disk is well, and look at the session with `ullage"
            " context show`"
        )
    if intent.backup is None:
        raise AssertionError("a file is exchanged only after its old one has a second name")
    if is_drained:
        # Someone may have found the old file and not opened it yet: the journal stays, and the
        # next command that changes a session looks once more.
        with suppress(UllageError):
            journal.write(msgspec.structs.replace(intent, is_settled=True))
    return Rewritten(backup=intent.backup, is_drained=is_drained)


def withdraw(path: Path, journal: Journal) -> bool:
    """Remove what a rewrite that did not come to its rename left; whether all is gone.

    False also where the rename was done: only `recover` can judge what is then.
    """
    entry = journal.read()
    if entry is None or not isinstance(intent := entry.intent, RewriteIntent):
        return False
    try:
        now = reader.look_at(path)
    except UllageError:
        return False
    temporary = path.with_name(intent.temporary)
    is_old = (now.device, now.inode) == (intent.device, intent.inode)
    try:
        if not is_old and not os.path.lexists(temporary) and intent.backup is not None:
            return False
        # What is there under our second name goes only where the transcript is the same.
        backup = None if intent.backup is None else path.with_name(intent.backup)
        if backup is not None and os.path.lexists(backup) and _is_spare(backup, path):
            backup.unlink()
        temporary.unlink(missing_ok=True)
    except (OSError, UllageError):
        return False
    return True


def _build(path: Path, temporary: Path, pieces: Iterable[bytes]) -> reader.Fingerprint:
    """Write the new file, with the permissions and the owner of the old, and read it back."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    fd = os.open(temporary, flags, 0o600)
    try:
        written = hashlib.sha256()
        for piece in pieces:
            atomic.write_all(fd, piece)
            written.update(piece)
        atomic.give_owner(temporary, path)
        if sys.platform != "win32":
            os.fchmod(fd, stat.S_IMODE(path.stat().st_mode))
        os.fsync(fd)
        there = hashlib.sha256()
        for block in reader.read_blocks(fd, 0, os.fstat(fd).st_size):
            there.update(block)
        if there.digest() != written.digest():
            raise OSError(f"what was read back from {temporary} is not what was written")
        return reader.fingerprint_of(os.fstat(fd))
    finally:
        os.close(fd)


def _keep_old(
    path: Path,
    expected: reader.Fingerprint,
    built: reader.Fingerprint,
    intent: RewriteIntent,
    journal: Journal,
) -> RewriteIntent:
    """Give the old file a second name that no one has."""
    while True:
        backup = atomic.unused_backup(path)
        intent = msgspec.structs.replace(
            intent, backup=backup.name, new_size_bytes=built.size_bytes
        )
        journal.write(intent)
        try:
            os.link(path, backup)
        except FileExistsError:
            continue
        except OSError as error:
            if error.errno not in atomic.NO_LINKS:
                raise
            _build(path, backup, _read_whole(path))
        else:
            kept = reader.look_at(backup)
            if (kept.device, kept.inode) != (expected.device, expected.inode):
                raise session_lock.changed_meanwhile(path)
        atomic.sync_folder(path.parent)
        return intent


def _read_whole(path: Path) -> Iterator[bytes]:
    with reader.open_to_read(path) as file:
        yield from reader.read_blocks(file.fileno(), 0, os.fstat(file.fileno()).st_size)


def _swap(
    path: Path, temporary: Path, expected: reader.Fingerprint, intent: RewriteIntent
) -> tuple[bool, Exception | None]:
    """Rename under leases; what fails behind the rename is given, not raised."""
    with session_lock.open_unchanged(path, expected) as old:
        if old.is_exclusive:
            with session_lock.open_to_change(temporary) as new:
                atomic.rename_over(temporary, path)
                failure: Exception | None = None
                try:
                    # Before anyone may write to the new file its name must last.
                    atomic.sync_folder(path.parent)
                except StorageError as error:
                    failure = error
                try:
                    old.let_go()
                    return session_lock.drain(old, new.fd, intent.size_bytes), failure
                except OSError as error:
                    return False, error
    # No file stays open over the rename, which Windows would refuse.
    if reader.look_at(path) != expected:
        raise session_lock.changed_meanwhile(path)
    atomic.rename_over(temporary, path)
    try:
        atomic.sync_folder(path.parent)
        return _carry_late_lines(path, intent), None
    except (StorageError, SessionLive, OSError) as error:
        return False, error


def _carry_late_lines(path: Path, intent: RewriteIntent) -> bool:
    """Add what came late where there are no leases, unless the new file was used already.

    Raises:
        OSError: the disk does not take it.
        StorageError: the system does not let us.
    """
    with session_lock.open_to_change(path.with_name(intent.backup or "")) as old:
        old_now = os.fstat(old.fd)
        if old_now.st_ino != intent.inode or old_now.st_size <= intent.size_bytes:
            return True
        with session_lock.open_to_change(path) as new:
            is_unused = os.fstat(new.fd).st_size == intent.new_size_bytes
            return is_unused and session_lock.drain(old, new.fd, intent.size_bytes)


def _is_spare(backup: Path, path: Path) -> bool:
    """Whether a file is the transcript under a second name, or a copy, whole or not, of it."""
    if backup.is_symlink():
        return False
    if backup.samefile(path):
        return True
    with reader.open_to_read(backup) as copy, reader.open_to_read(path) as original:
        size = os.fstat(copy.fileno()).st_size
        pairs = zip(
            reader.read_blocks(copy.fileno(), 0, size),
            reader.read_blocks(original.fileno(), 0, size),
            strict=False,
        )
        return size <= os.fstat(original.fileno()).st_size and all(a == b for a, b in pairs)
