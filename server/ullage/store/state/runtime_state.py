"""What is kept of a session whose runtime holds its messages, so that a restart changes nothing."""

import msgspec

from ullage.core.change.request_plan import MemoryPrune
from ullage.store.files.places import Places
from ullage.store.files.state_file import SessionFile, replace_state


class RuntimeState(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `held.json`."""

    version: int = 1
    n_compactions: int
    summary_id: str | None
    """The message that held the last summary."""
    replaced_id: str | None
    """The first message for which a summary stands that was answered and not yet seen applied."""
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
    known = RUNTIME_FILE.read(session_key, places)
    replace_state(RUNTIME_FILE.path(session_key, places), known, state)
