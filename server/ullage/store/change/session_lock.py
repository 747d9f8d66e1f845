"""One process at a time changes a session, and only while its agent leaves it alone."""

import errno
import os
import stat
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from ullage.core.text.digest import sha256
from ullage.errors import ChangedMeanwhile, NotATranscript, SessionLive, StorageError
from ullage.store.files.atomic import make_folder, unwritable, write_all
from ullage.store.files.places import Places
from ullage.store.transcript.reader import (
    QUIET_S,
    Fingerprint,
    fingerprint_of,
    look_at,
    read_blocks,
)

POLL_S = 0.2
LOCK_TIMEOUT_S = 10.0
PATIENCE_S = 1.0
"""Readers open a transcript for moments; who holds it longer works with it. Chosen."""
PAUSE_S = 0.01
DRAIN_S = 2.0
"""Who waited to open the old file writes to it within moments; who holds it longer is left."""
SETTLE_S = 0.005
"""Time in which who was waiting asks again. Chosen: a hundred times what it takes."""
TICK_S = 0.0005
if sys.platform == "linux":
    import fcntl
    import signal

    def _ask_for_lease(fd: int) -> Literal["granted", "in use", "no leases"]:
        try:
            # The signal of a waiting opener would end the process were it the usual SIGIO.
            fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except OSError as error:
            # Anything else says that this file system, or who is no owner, has no leases.
            return "in use" if error.errno == errno.EAGAIN else "no leases"
        return "granted"

    def _is_lease_asked_for(fd: int) -> bool:
        return fcntl.fcntl(fd, fcntl.F_GETLEASE) != fcntl.F_WRLCK

    def _give_lease_back(fd: int) -> None:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)

else:

    def _ask_for_lease(fd: int) -> Literal["granted", "in use", "no leases"]:
        return "no leases"

    def _is_lease_asked_for(fd: int) -> bool:
        return False

    def _give_lease_back(fd: int) -> None:
        pass


class OpenTranscript:
    """An open transcript."""

    def __init__(self, fd: int, path: Path) -> None:
        self.fd = fd
        self.path = path
        self.is_exclusive = False
        """Whether others wait in their `open` until we let go."""

    def take(self) -> bool:
        """Take the lease; False where someone else has the file open."""
        answer = _ask_for_lease(self.fd)
        self.is_exclusive = answer == "granted"
        return answer != "in use"

    def is_awaited(self) -> bool:
        """Whether someone waits in `open` for us to let go."""
        return self.is_exclusive and _is_lease_asked_for(self.fd)

    def let_go(self) -> None:
        if self.is_exclusive:
            _give_lease_back(self.fd)
            self.is_exclusive = False


@contextmanager
def session_lock(path: Path, places: Places) -> Generator[None]:
    """Hold our lock of a transcript; it goes with the process, and a thread may take it again.

    Raises:
        SessionLive: another Ullage works on the same session.
        StateUnwritable: the state folder does not take a lock.
    """
    # It imports asyncio, which takes longer than a hook that only reads pins may.
    from filelock import FileLock, Timeout

    folder = places.state_folder / "locks"
    make_folder(folder)
    # One lock object for a path lets `apply_change` run inside the lock of a longer task.
    lock = FileLock(folder / f"{path_digest(path)}.lock", mode=0o600, is_singleton=True)
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
        # What was done is done; a lock that the system does not take back goes with the process.
        with suppress(OSError):
            lock.release()


def path_digest(path: Path) -> str:
    """Give the name under which locks and journals of a transcript are kept."""
    return sha256(os.fsencode(path.resolve())).hexdigest()[:32]


def wait_until_quiet(path: Path, fingerprint: Fingerprint) -> None:
    """Wait until a transcript has not grown for some seconds.

    Raises:
        ChangedMeanwhile: it is not as it was when it was read.
        SessionLive: it is being written to, or the agent holds a lock beside it.
    """
    lock = path.with_name(f"{path.name}.lock")
    if _is_there(lock):
        raise SessionLive(
            f"an agent holds {lock.name}: end the agent's session first, or compact in the agent"
        )
    now = look_at(path)
    age_s = time.time() - now.mtime_ns / 1e9
    if now != fingerprint and age_s >= QUIET_S:
        raise changed_meanwhile(path)
    deadline = time.monotonic() + QUIET_S - max(0.0, age_s)
    while (rest_s := deadline - time.monotonic()) > 0:
        if look_at(path) != fingerprint:
            raise SessionLive(
                f"{path.name} is being written to: end the agent's session first, or compact in"
                " the agent"
            )
        time.sleep(min(POLL_S, rest_s))


def _is_there(lock: Path) -> bool:
    try:
        lock.lstat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StorageError(f"cannot look for {lock}: {error.strerror}") from None
    return True


def changed_meanwhile(path: Path) -> ChangedMeanwhile:
    return ChangedMeanwhile(f"{path.name} changed meanwhile; nothing was written: try again")


@contextmanager
def open_to_change(path: Path, *, flags: int = 0) -> Generator[OpenTranscript]:
    """Open a regular file to read and write it, with a lease where there are leases.

    Raises:
        SessionLive: someone else has it open.
        NotATranscript: it is no regular file.
        StorageError: the system does not let us.
    """
    flags |= os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        # Without O_NONBLOCK a pipe in the transcript's place would hold us for ever.
        fd = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        if error.errno == errno.EAGAIN:
            raise _in_use(path) from None
        raise StorageError(
            f"cannot write {path}: {error.strerror}. Check its permissions"
        ) from None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise NotATranscript(f"{path} is not a regular file: name a transcript")
        file = OpenTranscript(fd, path)
        deadline = time.monotonic() + PATIENCE_S
        while not file.take():
            if time.monotonic() >= deadline:
                raise _in_use(path)
            time.sleep(PAUSE_S)
        yield file
    finally:
        # All that counts was synced and read back; a failing `close` changes nothing of it.
        with suppress(OSError):
            os.close(fd)


@contextmanager
def open_unchanged(path: Path, expected: Fingerprint) -> Generator[OpenTranscript]:
    """Open a transcript as `open_to_change` does, if it is the one that `expected` describes.

    Raises:
        ChangedMeanwhile: it is not as it was when it was read.
    """
    with open_to_change(path) as file:
        if fingerprint_of(os.fstat(file.fd)) != expected or look_at(path) != expected:
            raise changed_meanwhile(path)
        yield file


def is_left_alone(file: OpenTranscript, size_bytes: int) -> bool:
    """Whether a file of that size is not opened by those who waited, nor written to by them.

    Holds the lease again where it is.
    """
    deadline = time.monotonic() + PATIENCE_S
    while True:
        if os.fstat(file.fd).st_size != size_bytes:
            return False
        if file.take():
            if _no_one_asks(file) and os.fstat(file.fd).st_size == size_bytes:
                return True
            file.let_go()
        if time.monotonic() > deadline:
            return False
        time.sleep(TICK_S)


def drain(old: OpenTranscript, new_fd: int, done: int) -> bool:
    """Carry over what is written to the old file behind `done`, until no one has it open.

    Raises:
        OSError: the disk does not take it.
    """
    deadline = time.monotonic() + DRAIN_S
    while not is_left_alone(old, done):
        size = os.fstat(old.fd).st_size
        if size > done:
            os.lseek(new_fd, 0, os.SEEK_END)
            for block in read_blocks(old.fd, done, size):
                write_all(new_fd, block)
            os.fsync(new_fd)
            done = size
        if time.monotonic() > deadline:
            return False
    return True


def _no_one_asks(file: OpenTranscript) -> bool:
    # Who waited is awake by now, but need not have run: a lease taken again keeps him waiting.
    until = time.monotonic() + SETTLE_S
    while time.monotonic() < until:
        if file.is_awaited():
            return False
        time.sleep(TICK_S)
    return True


def _in_use(path: Path) -> SessionLive:
    return SessionLive(
        f"another program has {path.name} open: end the agent's session first, or compact in the"
        " agent"
    )
