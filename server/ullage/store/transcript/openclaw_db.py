"""OpenClaw's database as lines: each event of a session is one.

OpenClaw 2026.8 and later (docs/design/agents.md, "OpenClaw"). Events are numbered, and large ones
are zstd frames. An offset here is an event's number, and the size is the last number plus one.
"""

from collections.abc import Iterator, Set
from pathlib import Path
from typing import TypeAlias, TypeVar, cast

import msgspec

from ullage.core.transcript.entries import Line
from ullage.errors import Unreadable
from ullage.store.files.zstd import unpack
from ullage.store.transcript.database import SessionRows, StoredSession
from ullage.store.transcript.sqlite_reading import one_line, reading, text_of

PAGE_EVENTS = 200
"""Read in one transaction (chosen)."""
MAX_EVENT_BYTES = 16 * 1024 * 1024
"""A frame that unpacks to more is cut there, and is then too long a line for any format."""
DAMAGED = b"(an event that does not unpack)"

_T = TypeVar("_T")
_Row: TypeAlias = tuple[int, object, object]
"""An event's number, its text, and its frame where it has no text."""

_SESSIONS = "SELECT session_key, current_session_id, entry_json FROM session_nodes"
_NUMBERED = "FROM transcript_events WHERE session_id = ? AND typeof(seq) = 'integer'"
"""In a damaged database a number may be of any type."""
_BOUNDS = f"SELECT min(seq), max(seq) {_NUMBERED}"
_EVENTS = f"SELECT seq, event_json, event_zstd {_NUMBERED}"
_FIRST = f"{_EVENTS} ORDER BY seq LIMIT 1"
_FORWARD = f"{_EVENTS} AND seq >= ? AND seq <= ? ORDER BY seq LIMIT {PAGE_EVENTS}"
_BACKWARD = f"{_EVENTS} AND seq >= ? AND seq <= ? ORDER BY seq DESC LIMIT {PAGE_EVENTS}"


class _Node(msgspec.Struct, rename="camel"):
    """What a session's row notes in JSON, as far as we use it."""

    updated_at: int | None = None
    label: str | None = None
    display_name: str | None = None
    spawned_by: str | None = None


class _Start(msgspec.Struct):
    """What a session's first event says of it."""

    cwd: str | None = None


def list_sessions(
    path: Path, directories: Set[str] | None = None, parent_id: str | None = None
) -> tuple[StoredSession, ...]:
    """List the current session of every key, the one written to last first: all, those of some
    folders, or those that work for one of them.

    Raises:
        Unreadable: the database cannot be read.
    """
    with reading(path) as connection:
        nodes = cast(list[tuple[object, ...]], connection.execute(_SESSIONS).fetchall())
        ids_by_key = {text_of(key): text_of(session_id) for key, session_id, _ in nodes}
        sessions: list[StoredSession] = []
        for key, column, entry_json in nodes:
            session_id = text_of(column)
            node = _decode(entry_json, _Node) or _Node()
            parent = ids_by_key.get(node.spawned_by) if node.spawned_by else None
            if session_id is None or parent_id not in {None, parent}:
                continue
            first = cast(_Row | None, connection.execute(_FIRST, (session_id,)).fetchone())
            start = None if first is None else _decode(_raw_of(first), _Start)
            directory = None if start is None else start.cwd
            if directories is not None and directory not in directories:
                continue
            sessions.append(
                StoredSession(
                    session_id=session_id,
                    directory=directory,
                    title=node.display_name or node.label or text_of(key) or "",
                    updated_ms=node.updated_at,
                    parent_id=parent,
                )
            )
    return tuple(sorted(sessions, key=lambda s: (s.updated_ms or 0, s.session_id), reverse=True))


class DatabaseLines(SessionRows):
    """The lines of a session up to the event that was its last when it was looked at."""

    def __init__(self, path: Path, session_id: str, updated_ms: int | None = None) -> None:
        """Look at a session.

        Raises:
            Unreadable: the database cannot be read, or has no such session.
        """
        super().__init__(path, session_id, updated_ms)
        with reading(path) as connection:
            first, last = cast(
                tuple[int | None, int | None], connection.execute(_BOUNDS, (session_id,)).fetchone()
            )
        if first is None or last is None:
            raise Unreadable(f"{path} has no session {session_id}: name another session")
        self._first = first
        self._last = last

    @property
    def size_bytes(self) -> int:
        """The number that the next event will have at least, not bytes."""
        return self._last + 1

    def forward(self, start: int = 0) -> Iterator[Line]:
        at = max(start, self._first)
        while rows := self._page(_FORWARD, at, self._last):
            for row in rows:
                yield _line_of(row)
            at = rows[-1][0] + 1

    def backward(self) -> Iterator[Line]:
        at = self._last
        while rows := self._page(_BACKWARD, self._first, at):
            for row in rows:
                yield _line_of(row)
            at = rows[-1][0] - 1

    def _page(self, query: str, first: int, last: int) -> list[_Row]:
        if first > last:
            return []
        with reading(self.path) as connection:
            rows = connection.execute(query, (self.session_id, first, last)).fetchall()
        return cast(list[_Row], rows)


def _line_of(row: _Row) -> Line:
    return Line(row[0], _raw_of(row) + b"\n")


def _raw_of(row: _Row) -> bytes:
    _, text, frame = row
    if isinstance(text, bytes):
        return one_line(text)
    return one_line(_unpack(frame)) if isinstance(frame, bytes) else DAMAGED


def _unpack(frame: bytes) -> bytes:
    """Unpack a zstd frame; what is damaged comes as a line that is no JSON."""
    data = unpack(frame, MAX_EVENT_BYTES)
    return DAMAGED if data is None else data


def _decode(data: object, kind: type[_T]) -> _T | None:
    if not isinstance(data, bytes):
        return None
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
