"""One process at a time changes a session, and only while its agent leaves it alone."""

import hashlib
import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from ullage.errors import ChangedMeanwhile, SessionLive, StorageError
from ullage.store.files.atomic import make_folder, unwritable
from ullage.store.files.places import Places
from ullage.store.transcript.reader import Fingerprint, look_at

QUIET_S = 5.0
"""A transcript that grew within this time counts as in use: docs/safety.md, "When a session is in
use"."""
POLL_S = 0.2
LOCK_TIMEOUT_S = 10.0


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
    return hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]


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
