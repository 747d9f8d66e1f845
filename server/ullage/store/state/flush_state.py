"""When a session's memory was flushed last, and what was written: one small file for each."""

import os

import msgspec

from ullage.core.memory.flush import Epoch
from ullage.store.change.session_lock import session_lock
from ullage.store.files.atomic import make_folder
from ullage.store.files.places import Places
from ullage.store.files.state_file import SessionFile, StateFile, replace_state

MAX_DIGESTS = 1000
"""Points that are remembered as written, the newest; chosen: 13 kB."""


class FlushState(msgspec.Struct, frozen=True, kw_only=True):
    epoch: Epoch | None = None
    """That of the last flush before a compaction; None: never."""
    last_compaction_at: str | None = None
    """RFC 3339, as it was known then."""
    digests: tuple[str, ...] = ()
    """Of the points that were written, oldest first."""


class FlushFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The content of `flush.json`, named as in docs/design/memory.md, "Epochs"."""

    version: int
    memory_flush_compaction_count: int | None
    memory_flush_turn_id: str | None = None
    last_compaction_at: str | None
    written_points: tuple[str, ...] = ()


FLUSH_FILE = SessionFile("flush.json", FlushFile)


def read_flush_state(session_key: str, places: Places) -> FlushState:
    """Read what is known of a session's flushes; a file that cannot be read counts as none."""
    return _state_of(FLUSH_FILE.read(session_key, places))


def record_flush(
    session_key: str,
    places: Places,
    *,
    epoch: Epoch | None,
    last_compaction_at: str | None = None,
    digests: tuple[str, ...] = (),
) -> None:
    """Remember a flush and what it wrote; `epoch` is None for one that no compaction follows.

    Raises:
        SessionLive: another Ullage changes the same file.
        StateUnwritable: the state folder does not take it; the old file is intact.
        StorageError: a newer version wrote the file.
    """
    path = FLUSH_FILE.path(session_key, places)
    make_folder(path.parent)
    with session_lock(path, places):
        known = FLUSH_FILE.read(session_key, places)
        before = _state_of(known)
        epoch = epoch or before.epoch
        # A point that was written again moves to the end.
        kept = [digest for digest in before.digests if digest not in digests]
        content = FlushFile(
            version=FLUSH_FILE.version,
            memory_flush_compaction_count=None if epoch is None else epoch.n_compactions,
            memory_flush_turn_id=None if epoch is None else epoch.turn_id,
            last_compaction_at=last_compaction_at or before.last_compaction_at,
            written_points=(*kept, *digests)[-MAX_DIGESTS:],
        )
        replace_state(path, known, content)


def carry_written(old_key: str, new_key: str, places: Places) -> None:
    """Let the session that goes on from another know what was written of it.

    Its compactions are counted anew, so that no epoch goes with it.

    Raises:
        StorageError: the state folder does not take it.
    """
    state = read_flush_state(old_key, places)
    if state == FlushState() or os.path.lexists(FLUSH_FILE.path(new_key, places)):
        return
    at = state.last_compaction_at
    record_flush(new_key, places, epoch=None, last_compaction_at=at, digests=state.digests)


def _state_of(known: StateFile[FlushFile]) -> FlushState:
    content = known.content
    if content is None:
        return FlushState()
    n_compactions = content.memory_flush_compaction_count
    turn_id = content.memory_flush_turn_id
    return FlushState(
        epoch=None
        if n_compactions is None
        else Epoch(n_compactions=n_compactions, turn_id=turn_id),
        last_compaction_at=content.last_compaction_at,
        digests=content.written_points,
    )
