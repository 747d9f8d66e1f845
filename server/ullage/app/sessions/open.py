"""Open a session: a file or a row of a database, and which agent wrote it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import msgspec

from ullage.app.sessions.session import Session, session_of
from ullage.errors import NotATranscript, Unreadable
from ullage.formats.agents.openclaw.places import database_patterns as openclaw_patterns
from ullage.formats.agents.opencode.places import database_patterns as opencode_patterns
from ullage.formats.registry import recognize
from ullage.store.files.places import Places
from ullage.store.transcript import openclaw_db, opencode_db
from ullage.store.transcript.database import StoredSession, find_databases, is_database
from ullage.store.transcript.source import Source, open_file

Patterns: TypeAlias = Callable[[Mapping[str, str], Path], tuple[tuple[Path, str], ...]]


class DatabaseReader(msgspec.Struct, frozen=True, kw_only=True):
    """How the databases of one agent are found and read."""

    patterns: Patterns
    list_sessions: Callable[[Path], tuple[StoredSession, ...]]
    open_lines: Callable[[Path, str, int | None], Source]


class DatabaseRow(msgspec.Struct, frozen=True, kw_only=True):
    """A session in a database that was not opened yet."""

    path: Path
    session: StoredSession
    reader: DatabaseReader

    def open(self) -> Session:
        lines = self.reader.open_lines(self.path, self.session.session_id, self.session.updated_ms)
        return recognized(lines)


DATABASE_READERS: tuple[DatabaseReader, ...] = (
    DatabaseReader(
        patterns=opencode_patterns,
        list_sessions=opencode_db.list_sessions,
        open_lines=opencode_db.DatabaseLines,
    ),
    DatabaseReader(
        patterns=openclaw_patterns,
        list_sessions=openclaw_db.list_sessions,
        open_lines=openclaw_db.DatabaseLines,
    ),
)


def open_session(path: Path, session_id: str | None = None) -> Session:
    """Open a transcript and recognize it; of a database the session that is named, or the newest.

    Raises:
        Unreadable: the file cannot be read.
        NotATranscript: no agent that we know wrote it.
    """
    if not is_database(path):
        return recognized(open_file(path))
    rows = rows_in(path)
    if not rows:
        raise NotATranscript(f"{path} has no session yet: name another one")
    named = (row for row in rows if row.session.session_id == session_id)
    return next(named, rows[0]).open()


def reopen(session: Session) -> Session:
    """Open a session again, as it is now."""
    return open_session(session.path, session.header.session_id)


def recognized(lines: Source) -> Session:
    """Tell by its first lines which agent wrote a transcript.

    Raises:
        NotATranscript: no agent that we know wrote it.
    """
    match = recognize(lines)
    if match is None:
        raise NotATranscript(
            f"{lines.path} is not a session of an agent that Ullage reads (pi/OpenClaw,"
            " Claude Code, Codex, opencode, Gemini CLI): name a transcript"
        )
    return session_of(*match, lines)


def database_rows(places: Places) -> Iterator[DatabaseRow]:
    """Go through the sessions of all databases; one that cannot be read hides no other."""
    for reader in DATABASE_READERS:
        for path in find_databases(reader.patterns(places.env, places.home)):
            with suppress(Unreadable):
                yield from _rows_of(path, reader)


def rows_in(path: Path) -> tuple[DatabaseRow, ...]:
    """List the sessions of a database, the one written to last first.

    Raises:
        Unreadable: no agent that we know made it, or it cannot be read now.
    """
    reasons: list[str] = []
    for reader in DATABASE_READERS:
        try:
            return tuple(_rows_of(path, reader))
        except Unreadable as error:
            reasons.append(str(error))
    raise Unreadable(reasons[0])


def database_folders(places: Places) -> set[Path]:
    """List the folders of all databases, so that a change in them is noticed."""
    return {
        path.parent
        for reader in DATABASE_READERS
        for path in find_databases(reader.patterns(places.env, places.home))
    }


def _rows_of(path: Path, reader: DatabaseReader) -> Iterator[DatabaseRow]:
    for session in reader.list_sessions(path):
        yield DatabaseRow(path=path, session=session, reader=reader)
