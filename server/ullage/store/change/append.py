"""Appending to a transcript that an agent wrote and has left alone.

The rules of docs/safety.md, "An append": a journal first; the file must be the one that was
read; one write, under a lease where there are leases; sync; read back. On any failure only our
own bytes are taken back: cut off where no one else can write, else blanked where they stand, as
agents skip blank lines, and blanks before a record. Cutting could take what another wrote.
"""

import os
from pathlib import Path

from ullage.core.change.edit import Append
from ullage.errors import StorageError
from ullage.store.change.journal import AppendIntent, Journal
from ullage.store.change.lease import Held, held
from ullage.store.change.own_bytes import blank, find_behind, settle
from ullage.store.change.session_lock import changed_meanwhile
from ullage.store.files.atomic import read_at, write_all
from ullage.store.transcript.reader import Fingerprint, fingerprint_of, look_at


def append(path: Path, expected: Fingerprint, change: Append, journal: Journal) -> None:
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
        with held(path) as file:
            if fingerprint_of(os.fstat(file.fd)) != expected or look_at(path) != expected:
                raise changed_meanwhile(path)
            is_clean = False
            try:
                _write(file, intent)
            except OSError as error:
                is_clean = _take_back(file, intent)
                raise StorageError(_failure(path, error, is_clean=is_clean)) from None
            if not _stands(file, intent):
                is_clean = True
                raise changed_meanwhile(path)
    except BaseException:
        if is_clean:
            journal.clear()
        raise


def _write(file: Held, intent: AppendIntent) -> None:
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


def _stands(file: Held, intent: AppendIntent) -> bool:
    """Look where our lines went; behind another's they are blanked, as they would hide it.

    Raises:
        StorageError: they are not on the disk as they were written.
    """
    try:
        if read_at(file.fd, intent.offset, len(intent.data)) == intent.data:
            return True
        begin = None if file.is_exclusive else find_behind(file.fd, intent)
        if begin is not None:
            blank(file.fd, begin, intent.data)
            return False
    except OSError as error:
        raise StorageError(_failure(file.path, error, is_clean=False)) from None
    error = OSError("what was read back is not what was written")
    raise StorageError(_failure(file.path, error, is_clean=False))


def _take_back(file: Held, intent: AppendIntent) -> bool:
    """Take back our own bytes after a failed write; whether none of them is left."""
    try:
        if not file.is_exclusive:
            return settle(file, intent) in ("absent", "withdrawn")
        end = os.lseek(file.fd, 0, os.SEEK_END)
        if end > intent.offset:
            if not intent.data.startswith(read_at(file.fd, intent.offset, end - intent.offset)):
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
