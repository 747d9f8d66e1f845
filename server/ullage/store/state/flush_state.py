"""When a session's memory was flushed last, and what was written: one small file for each."""

import os

import msgspec

from ullage.core.memory.flush import Epoch
from ullage.store.change.session_lock import session_lock
from ullage.store.files.atomic import make_folder
from ullage.store.files.places import Places
from ullage.store.files.state_file import SessionFile, replace_state

MAX_DIGESTS = 1000
"""Points that are remembered as written, the newest; chosen: 13 kB."""


class FlushState(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The content of `flush.json`, named as in docs/design/memory.md, "Epochs"."""

    version: int = 1
    memory_flush_compaction_count: int | None = None
    memory_flush_turn_id: str | None = None
    last_compaction_at: str | None = None
    """RFC 3339, as it was known then."""
    digests: tuple[str, ...] = msgspec.field(name="writtenPoints", default=())
    """Of the points that were written, oldest first."""

    @property
    def epoch(self) -> Epoch | None:
        """That of the last flush before a compaction; None: never."""
        n_compactions = self.memory_flush_compaction_count
        if n_compactions is None:
            return None
        return Epoch(n_compactions=n_compactions, turn_id=self.memory_flush_turn_id)


FLUSH_FILE = SessionFile("flush.json", FlushState)


def read_flush_state(session_key: str, places: Places) -> FlushState:
    """Read what is known of a session's flushes; a file that cannot be read counts as none."""
    return FLUSH_FILE.read(session_key, places).content or FlushState()


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
        stored = FLUSH_FILE.read(session_key, places)
        before = stored.content or FlushState()
        epoch = epoch or before.epoch
        # A point that was written again moves to the end.
        kept = [digest for digest in before.digests if digest not in digests]
        state = FlushState(
            memory_flush_compaction_count=None if epoch is None else epoch.n_compactions,
            memory_flush_turn_id=None if epoch is None else epoch.turn_id,
            last_compaction_at=last_compaction_at or before.last_compaction_at,
            digests=(*kept, *digests)[-MAX_DIGESTS:],
        )
        replace_state(path, stored, state)


def carry_written(old_key: str, new_key: str, places: Places) -> None:
    """Let the session that continues another know what was written of it.

    Its compactions are counted from 0, so that no epoch goes with it.

    Raises:
        StorageError: the state folder does not take it.
    """
    state = read_flush_state(old_key, places)
    if state == FlushState() or os.path.lexists(FLUSH_FILE.path(new_key, places)):
        return
    at = state.last_compaction_at
    record_flush(new_key, places, epoch=None, last_compaction_at=at, digests=state.digests)
