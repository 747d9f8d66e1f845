"""What is kept of a session whose runtime holds its messages, so that a restart changes nothing."""

import os

import msgspec

from ullage.core.change.request_plan import MemoryPrune
from ullage.store.files.atomic import replace_file
from ullage.store.files.places import Places, session_folder
from ullage.store.files.state_file import SessionFile, replace_state
from ullage.store.state.auto_state import AUTO_FILE
from ullage.store.state.flush_state import carry_written
from ullage.store.state.pins import PINS_FILE
from ullage.store.state.startup_files import STARTUP_FILE

COMPACTION_MARK = "compacted"
"""An empty file, there from a compaction until the state was given back to the agent."""
CARRIED = (PINS_FILE, AUTO_FILE, STARTUP_FILE)
"""What the user chose for a session, and what is known of its automatic runs and compactions."""


class RuntimeState(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `held.json`."""

    version: int = 1
    n_compactions: int
    summary_id: str | None
    """The message that held the last summary."""
    kept_ids: tuple[str, ...] = ()
    """Messages from before it."""
    replaced_id: str | None
    """The first message for which a summary stands that was answered and not yet seen applied."""
    known_ids: tuple[str, ...] = ()
    """The messages before that summary was applied."""
    is_pending_recorded: bool = False
    """Whether what it brings is part of what is known of automatic runs."""
    n_tokens_after: int | None
    is_restore_due: bool
    pruned: tuple[MemoryPrune, ...]
    answer_id: str | None
    """The model's last answer before the unreported ones of these; None without any."""


RUNTIME_FILE = SessionFile("held.json", RuntimeState)


def read_runtime_state(session_key: str, places: Places) -> RuntimeState | None:
    """Read the state of a session; a file that cannot be read counts as none."""
    return RUNTIME_FILE.read(session_key, places).content


def write_runtime_state(session_key: str, state: RuntimeState, places: Places) -> None:
    """Replace the state of a session.

    Raises:
        StateUnwritable: the state folder does not take it; the old file is intact.
        StorageError: a newer version wrote the file.
    """
    stored = RUNTIME_FILE.read(session_key, places)
    replace_state(RUNTIME_FILE.path(session_key, places), stored, state)


def mark_compaction(session_key: str, places: Places) -> None:
    """Leave the mark; once more changes nothing.

    Raises:
        StateUnwritable: the state folder does not take it.
    """
    replace_file(session_folder("state", session_key, places) / COMPACTION_MARK, b"")


def take_mark(session_key: str, places: Places) -> bool:
    """Remove the mark and say whether it was there; of two at once, one gets it."""
    try:
        (session_folder("state", session_key, places) / COMPACTION_MARK).unlink()
    except OSError:
        return False
    return True


def carry_state(old_key: str, new_key: str, places: Places) -> None:
    """Copy what the user chose for a session and what is known of it to the one that continues it.

    Raises:
        StorageError: the state folder does not take it.
    """
    carry_written(old_key, new_key, places)
    for file in CARRIED:
        path = file.path(new_key, places)
        if os.path.lexists(path):
            continue
        try:
            data = file.path(old_key, places).read_bytes()
        except OSError:
            continue
        replace_file(path, data)
