"""A lock that a hook can pay for: held for moments, and gone with the process that held it.

filelock, which guards changes of sessions, takes longer to import than a hook may take in all
(asyncio and ssl among others, 80 ms).
"""

import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from ullage.errors import StateBusy
from ullage.store.files.atomic import make_folder, unwritable

TIMEOUT_S = 1.0
"""Who holds such a lock writes a few small files; a hook has no longer to wait. Chosen."""
_PAUSE_S = 0.005

if sys.platform == "win32":
    import msvcrt

    def _take(fd: int) -> None:
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)

    def _give_back(fd: int) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _give_back(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)


@contextmanager
def quick_lock(path: Path, *, timeout_s: float = TIMEOUT_S) -> Generator[None]:
    """Hold the lock of a file that is there for nothing else; no thread may take it twice.

    Raises:
        StateBusy: another holds it for longer than we wait.
        StateUnwritable: the folder does not take the file.
    """
    make_folder(path.parent)
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError as error:
        raise unwritable(path, error) from None
    try:
        try:
            is_taken = _take_by(fd, time.monotonic() + timeout_s)
        except OSError as error:
            raise unwritable(path, error) from None
        if not is_taken:
            raise StateBusy(f"another Ullage is writing in {path.parent}: try again in a moment")
        try:
            yield
        finally:
            with suppress(OSError):
                _give_back(fd)
    finally:
        # What was done is done; closing gives the lock back as well.
        with suppress(OSError):
            os.close(fd)


def _take_by(fd: int, deadline: float) -> bool:
    while True:
        try:
            _take(fd)
        except OSError as error:
            # Windows reports a lock that another holds like a denied file.
            if not isinstance(error, BlockingIOError | PermissionError):
                raise
        else:
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(_PAUSE_S)
