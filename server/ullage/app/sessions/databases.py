"""Sessions that agents keep in databases."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import msgspec

from ullage.errors import Unreadable
from ullage.formats.agents.openclaw.places import database_patterns as openclaw_patterns
from ullage.formats.agents.opencode.places import database_patterns as opencode_patterns
from ullage.store.files.places import Places
from ullage.store.transcript import openclaw_db, opencode_db
from ullage.store.transcript.database import StoredSession, find_databases
from ullage.store.transcript.reader import open_to_read
from ullage.store.transcript.source import Source

SQLITE_HEAD = b"SQLite format 3\0"

Patterns: TypeAlias = Callable[[Mapping[str, str], Path], tuple[tuple[Path, str], ...]]


class Reader(msgspec.Struct, frozen=True, kw_only=True):
    """How the databases of one agent are found and read."""

    patterns: Patterns
    list_sessions: Callable[[Path], tuple[StoredSession, ...]]
    open_lines: Callable[[Path, str, int | None], Source]


READERS: tuple[Reader, ...] = (
    Reader(
        patterns=opencode_patterns,
        list_sessions=opencode_db.list_sessions,
        open_lines=opencode_db.DatabaseLines,
    ),
    Reader(
        patterns=openclaw_patterns,
        list_sessions=openclaw_db.list_sessions,
        open_lines=openclaw_db.DatabaseLines,
    ),
)


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """A session in a database that was not opened yet."""

    path: Path
    session: StoredSession
    reader: Reader

    def open(self) -> Source:
        return self.reader.open_lines(self.path, self.session.session_id, self.session.updated_ms)


def is_database(path: Path) -> bool:
    """Tell by the first bytes; what cannot be read is none."""
    try:
        if not path.is_file():
            return False
        with open_to_read(path) as file:
            return file.read(len(SQLITE_HEAD)) == SQLITE_HEAD
    except (Unreadable, OSError):
        return False


def stored_sessions(places: Places) -> Iterator[Stored]:
    """Go through the sessions of all databases; one that cannot be read hides no other."""
    for reader in READERS:
        for path in find_databases(reader.patterns(places.env, places.home)):
            with suppress(Unreadable):
                yield from _sessions_of(path, reader)


def sessions_in(path: Path) -> tuple[Stored, ...]:
    """List the sessions of a database, the one written to last first.

    Raises:
        Unreadable: no agent that we know made it, or it cannot be read now.
    """
    reasons: list[str] = []
    for reader in READERS:
        try:
            return tuple(_sessions_of(path, reader))
        except Unreadable as error:
            reasons.append(str(error))
    raise Unreadable(reasons[0])


def database_folders(places: Places) -> set[Path]:
    """List the folders of all databases, so that a change in them is noticed."""
    return {
        path.parent
        for reader in READERS
        for path in find_databases(reader.patterns(places.env, places.home))
    }


def _sessions_of(path: Path, reader: Reader) -> Iterator[Stored]:
    for session in reader.list_sessions(path):
        yield Stored(path=path, session=session, reader=reader)
