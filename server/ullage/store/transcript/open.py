"""Open what may be a session of any agent: a file, a packed file, a database row."""

from collections.abc import Callable, Iterable, Iterator, Set
from pathlib import Path

import msgspec

from ullage.errors import NotATranscript, OtherDatabase, Unreadable
from ullage.store.transcript.database import StoredSession, log_of
from ullage.store.transcript.reader import FileLines, SessionLines, open_to_read

SQLITE_HEAD = b"SQLite format 3\0"


class DatabaseReader(msgspec.Struct, frozen=True, kw_only=True):
    """How one agent's kind of database is read."""

    list_sessions: Callable[[Path, Set[str] | None, str | None], tuple[StoredSession, ...]]
    """Lists all, those of some folders, or those that work for a session."""
    open_lines: Callable[[Path, str, int | None], SessionLines]


class DatabaseRow(msgspec.Struct, frozen=True, kw_only=True):
    """A session in a database that was not opened yet."""

    path: Path
    session: StoredSession
    reader: DatabaseReader

    def open(self) -> SessionLines:
        return self.reader.open_lines(self.path, self.session.session_id, self.session.updated_ms)


def open_lines(path: Path, session_id: str | None = None) -> SessionLines:
    """Open a transcript, packed or not; of a database the session that is named, or the newest.

    Raises:
        Unreadable: the file cannot be read.
        NotATranscript: it is empty.
    """
    if path.suffix == ".zst":
        from ullage.store.transcript.packed import PackedLines

        return PackedLines(path)
    if not _is_database(path):
        return FileLines(path)
    rows = _rows_of(path)
    if not rows:
        raise NotATranscript(f"{path} has no session yet: name another one")
    named = (row for row in rows if row.session.session_id == session_id)
    return next(named, rows[0]).open()


def database_rows(
    paths: Iterable[Path],
    problems: list[str],
    directories: Set[str] | None = None,
    parent_id: str | None = None,
) -> Iterator[DatabaseRow]:
    """Go through the sessions of databases: all, those of some folders, or those that work for one
    of them. A database that cannot be read is a problem, and hides no other."""
    for path in paths:
        try:
            yield from _rows_of(path, directories, parent_id)
        except Unreadable as error:
            problems.append(str(error))


def _is_database(path: Path) -> bool:
    """Tell by its log, else by the first bytes; what cannot be read is none."""
    try:
        if not path.is_file():
            return False
        if log_of(path).exists():
            return True
        with open_to_read(path) as file:
            return file.read(len(SQLITE_HEAD)) == SQLITE_HEAD
    except (Unreadable, OSError):
        return False


def _rows_of(
    path: Path, directories: Set[str] | None = None, parent_id: str | None = None
) -> tuple[DatabaseRow, ...]:
    """List the sessions of a database, the one written to last first.

    Raises:
        Unreadable: no agent that we know made it, or it cannot be read now.
    """
    reasons: list[OtherDatabase] = []
    for reader in _import_readers():
        try:
            sessions = reader.list_sessions(path, directories, parent_id)
        except OtherDatabase as reason:
            reasons.append(reason)
        else:
            return tuple(
                DatabaseRow(path=path, session=session, reader=reader) for session in sessions
            )
    raise reasons[0]


def _import_readers() -> Iterator[DatabaseReader]:
    """Give the readers of all kinds; most sessions are in files, and need none."""
    from ullage.store.transcript import openclaw_db, opencode_db

    yield DatabaseReader(
        list_sessions=opencode_db.list_sessions, open_lines=opencode_db.DatabaseLines
    )
    yield DatabaseReader(
        list_sessions=openclaw_db.list_sessions, open_lines=openclaw_db.DatabaseLines
    )
