"""Memory files of a workspace, to be read: which there are, and their text."""

from itertools import islice
from pathlib import Path

from ullage.store.memory.daily_log import FOLDER
from ullage.store.transcript.reader import read_bounded

DREAMS = "DREAMS.md"
MAX_LOGS = 30
"""Of a month: older ones are consolidated, or nobody looks for them in a list (chosen)."""
MAX_FOLDER_ENTRIES = 10_000
MAX_READ_BYTES = 1024 * 1024
"""A larger file is no memory that an agent could be given; its beginning is read (chosen)."""


def list_logs(workspace: Path) -> tuple[Path, ...]:
    """List the newest Markdown files of the memory folder by their names, newest first."""
    try:
        entries = list(islice((workspace / FOLDER).iterdir(), MAX_FOLDER_ENTRIES))
    except OSError:
        return ()
    found = sorted((path for path in entries if path.suffix == ".md"), reverse=True)
    return tuple(found[:MAX_LOGS])


def read_text(path: Path) -> str:
    """Read the beginning of a text file; what is no UTF-8 is replaced.

    Raises:
        Unreadable: it is missing, no regular file, or not ours to read.
    """
    return read_bounded(path, MAX_READ_BYTES).decode("utf-8-sig", "replace")
