"""Where the summary of a session's next compaction is kept until it is used."""

import msgspec

from ullage.app.memory.flush import PickedPoints
from ullage.app.summary.write import WrittenSummary
from ullage.store.files.places import Places
from ullage.store.files.state_file import SessionFile, replace_state


class PreparedSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `prepared.json`: a summary written ahead, without secrets."""

    version: int = 1
    n_compactions: int
    """How often the session was compacted before."""
    n_asked: int
    """Summaries that models were asked for since then, by any window, this one included."""
    n_replaced: int
    """Messages that it stands for, from the first of the context."""
    n_tokens_replaced: int
    digest: str
    """Of those messages, and of the pins and the layer that it was written for."""
    author: str
    """Who was to write it; a model that failed left it to our own rules."""
    summary: WrittenSummary
    picked: PickedPoints | None
    """What a model picked out for the daily log; None where none was to, or it failed."""


PREPARED_FILE = SessionFile("prepared.json", PreparedSummary)


def store_prepared(prepared: PreparedSummary, session_key: str, places: Places) -> None:
    """Store a prepared summary in the place of another.

    Raises:
        StateUnwritable: the state folder does not take it; the old file is intact.
        StorageError: a newer version wrote the file.
    """
    path = PREPARED_FILE.path(session_key, places)
    replace_state(path, PREPARED_FILE.read(session_key, places), prepared)
