"""Appending to a transcript that an agent wrote and has left alone.

The rules of research/reliability.md §4.4: one lock of ours, which is not in the agent's folder;
the file must be the one that was read, to the byte count; one write, a line end before it where
the last line has none; sync; on any failure only our own bytes are taken back.
"""

import hashlib
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from ullage.errors import ChangedMeanwhile, SessionLive, StorageError
from ullage.store.files import write_all
from ullage.store.places import Places, make_folder, unwritable
from ullage.store.reader import Fingerprint, look_at

QUIET_S = 5.0
"""A transcript that grew within this time counts as in use (research/reliability.md §4.3)."""
POLL_S = 0.2
LOCK_TIMEOUT_S = 10.0


@contextmanager
def session_lock(path: Path, places: Places) -> Generator[None]:
    """Hold our lock of a transcript; it goes with the process.

    Raises:
        SessionLive: another Ullage works on the same session.
        StateUnwritable: the state folder does not take a lock.
    """
    folder = places.state_folder / "locks"
    make_folder(folder)
    name = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]
    lock = FileLock(folder / f"{name}.lock", mode=0o600)
    try:
        lock.acquire(timeout=LOCK_TIMEOUT_S)
    except Timeout:
        raise SessionLive(
            f"another Ullage is working on {path.name}: wait for it, then try again"
        ) from None
    except OSError as error:
        raise unwritable(folder, error) from None
    try:
        yield
    finally:
        lock.release()


def wait_until_quiet(path: Path, fingerprint: Fingerprint) -> None:
    """Wait until a transcript has not grown for some seconds.

    Raises:
        ChangedMeanwhile: it is not as it was when it was read.
        SessionLive: it is being written to, or the agent holds a lock beside it.
    """
    lock = path.with_name(f"{path.name}.lock")
    if lock.exists():
        raise SessionLive(
            f"an agent holds {lock.name}: end the agent's session first, or compact in the agent"
        )
    now = look_at(path)
    age_s = time.time() - now.mtime_ns / 1e9
    if now != fingerprint and age_s >= QUIET_S:
        raise ChangedMeanwhile(f"{path.name} changed meanwhile; nothing was written: try again")
    deadline = time.monotonic() + QUIET_S - max(0.0, age_s)
    while (rest_s := deadline - time.monotonic()) > 0:
        if look_at(path) != fingerprint:
            raise SessionLive(
                f"{path.name} is being written to: end the agent's session first, or compact in"
                " the agent"
            )
        time.sleep(min(POLL_S, rest_s))


def append_lines(path: Path, expected: Fingerprint, data: bytes) -> Fingerprint:
    """Append whole lines to the file that `expected` describes, and give its new fingerprint.

    Raises:
        ChangedMeanwhile: the file is not as it was when it was read; nothing was written.
        StorageError: the disk did not take the lines; they were taken back.
    """
    flags = os.O_RDWR | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        fd = os.open(path.resolve(), flags)
    except OSError as error:
        raise StorageError(
            f"cannot write {path}: {error.strerror}. Check its permissions"
        ) from None
    try:
        found = os.fstat(fd)
        is_same = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns) == (
            expected.device,
            expected.inode,
            expected.size_bytes,
            expected.mtime_ns,
        )
        if not is_same:
            raise ChangedMeanwhile(f"{path.name} changed meanwhile; nothing was written: try again")
        try:
            write_all(fd, data)
            os.fsync(fd)
        except OSError as error:
            _take_back(fd, expected.size_bytes, data)
            raise StorageError(
                f"cannot write {path}: {error.strerror}; nothing was changed. Free some space"
            ) from None
    finally:
        os.close(fd)
    return look_at(path)


def _take_back(fd: int, size_bytes: int, data: bytes) -> None:
    """Cut off our own bytes after a failed write, unless someone else wrote behind them."""
    os.lseek(fd, size_bytes, os.SEEK_SET)
    written = os.read(fd, len(data) + 1)
    if data.startswith(written):
        os.ftruncate(fd, size_bytes)
