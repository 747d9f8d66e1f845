"""Capture what happens in a session as it happens, for its next checkpoint."""

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from ullage.app.sessions.secrets import secrets_in
from ullage.core.checkpoint.working_state import Event, WorkingState, take
from ullage.store.checkpoint import working_state as store
from ullage.store.files.places import Places


def capture(
    session_key: str,
    events: Sequence[Event],
    places: Places,
    *,
    known_secrets: tuple[str, ...] | None = None,
) -> tuple[str, ...]:
    """Add events to the working state; the same event counts once, however often it arrives.

    `known_secrets` are those of the session, by default those of the environment and the current
    folder. While another process writes the state, they are kept beside it and added soon. Gives
    what was wrong with a file that had to be moved aside, in words for the user.

    Raises:
        StorageError: the state folder does not take it; each file is old or new.
    """
    if not events:
        return ()
    known = secrets_in((places.cwd,), places) if known_secrets is None else known_secrets
    now_ms = time.time_ns() // 1_000_000
    taken = take(events, now_ms=now_ms, known=known)
    return store.add_to_working_state(session_key, taken, places)


def read_working_state(session_key: str, places: Places) -> WorkingState:
    """Read what was captured and no checkpoint holds; of a damaged file, nothing."""
    return store.read_working_state(session_key, places).state


@contextmanager
def bundling(session_key: str, places: Places) -> Generator[WorkingState]:
    """Give the working state to a checkpoint, and take it away once that is written.

    Nothing is captured in between, so that an event is in this checkpoint or in the next even
    where the process is killed. Where the block raises, the state stays as it is.

    Raises:
        StateBusy: another process writes it, for a second already.
        StorageError: the state folder does not take it.
    """
    with store.held_working_state(session_key, places) as state:
        yield state
