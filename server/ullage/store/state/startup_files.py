"""Which startup files were not read after each compaction of a session: one small file each."""

import msgspec

from ullage.store.files.places import Places
from ullage.store.files.state_file import SessionFile, replace_state


class StartupFilesNote(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `startup.json`."""

    version: int = 1
    unread: dict[int, tuple[str, ...]]
    """By the number of the compaction, from 1; empty where all were read."""


STARTUP_FILE = SessionFile("startup.json", StartupFilesNote)


def read_unread_files(session_key: str, places: Places) -> dict[int, tuple[str, ...]]:
    """Read what was noted; a file that cannot be read counts as none."""
    content = STARTUP_FILE.read(session_key, places).content
    return {} if content is None else content.unread


def note_unread_files(
    session_key: str, n_compaction: int, unread: tuple[str, ...], places: Places
) -> None:
    """Note it of the latest compaction; what was noted of later ones was undone.

    Raises:
        StateUnwritable: the state folder does not take it; the old file is intact.
        StorageError: a newer version wrote the file.
    """
    stored = STARTUP_FILE.read(session_key, places)
    before = {} if stored.content is None else stored.content.unread
    after = {n: files for n, files in before.items() if n < n_compaction} | {n_compaction: unread}
    if after != before:
        path = STARTUP_FILE.path(session_key, places)
        replace_state(path, stored, StartupFilesNote(unread=after))
