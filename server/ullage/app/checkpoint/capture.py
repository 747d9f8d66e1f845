"""Capture what happens in a session as it happens, for its next checkpoint."""

import time
from collections.abc import Sequence

from ullage.app.sessions.secrets import secrets_in
from ullage.core.checkpoint.captured import Event, capture_events
from ullage.store.checkpoint.spool import spool
from ullage.store.files.places import Places
from ullage.store.files.quick_state import MAX_WAITING


def capture(
    session_key: str,
    events: Sequence[Event],
    places: Places,
    *,
    known_secrets: tuple[str, ...] | None = None,
    is_hook: bool = False,
) -> tuple[str, ...]:
    """Add events to the working state; the same event counts once, however often it arrives.

    `known_secrets` are those of the session, by default those of the environment and the current
    folder. A hook, which has no time, lays them beside the state. Gives what was wrong with a file
    that had to be moved aside, in words for the user.

    Raises:
        StorageError: the state folder does not take it; each file is old or new.
    """
    if not events:
        return ()
    secrets = secrets_in((places.cwd,), places) if known_secrets is None else known_secrets
    now_ms = time.time_ns() // 1_000_000
    captured = capture_events(events, now_ms=now_ms, known_secrets=secrets)
    if is_hook and spool(session_key, captured, places) < MAX_WAITING:
        return ()
    from ullage.store.checkpoint.working_state import add_to_working_state

    return add_to_working_state(session_key, captured, places)
