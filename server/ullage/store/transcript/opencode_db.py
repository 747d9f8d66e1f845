"""opencode's database as lines: one JSON object for the session, then one for each message.

opencode keeps messages and their parts as JSON in rows that grow and change in place, so bytes
cannot tell places apart. An offset here is the number of a line, and the size is how many there
are: both only grow while the agent works, and a rewind takes lines from the end.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import TypeAlias, cast

import msgspec

from ullage.core.transcript.entries import Line
from ullage.errors import Unreadable
from ullage.store.transcript.database import SessionRows, StoredSession
from ullage.store.transcript.sqlite_reading import int_of, one_line, reading, text_of

PAGE_MESSAGES = 50
"""Read in one transaction; opencode pages its own reading the same."""

_Key: TypeAlias = tuple[object, bytes]
"""A message's time of creation and id, by which opencode orders them."""
_Row: TypeAlias = tuple[object, bytes, object]
"""A message's key and data."""

_SESSIONS = "SELECT id, directory, title, time_updated, parent_id FROM session"
_NEWEST_FIRST = " ORDER BY time_updated DESC, id DESC"
_LAST = (
    "SELECT time_created, id FROM message WHERE session_id = ? AND id IS NOT NULL"
    " ORDER BY time_created DESC, id DESC LIMIT 1"
)
_COUNT = "SELECT count(*) FROM message WHERE session_id = ?"
# Ids come as bytes, which SQLite takes for another kind of value than text.
_BETWEEN = (
    "SELECT time_created, id, data FROM message WHERE session_id = ?"
    " AND (time_created, id) > (?, CAST(? AS TEXT))"
    " AND (time_created, id) < (?, CAST(? AS TEXT))"
)
_FORWARD = f"{_BETWEEN} ORDER BY time_created, id LIMIT ? OFFSET ?"
_BACKWARD = f"{_BETWEEN} ORDER BY time_created DESC, id DESC LIMIT ? OFFSET ?"
_FIRST: _Key = (-(2**63), b"")


def list_sessions(
    path: Path, directories: Set[str] | None = None, parent_id: str | None = None
) -> tuple[StoredSession, ...]:
    """List the sessions of a database, the one written to last first: all, those of some folders,
    or those that work for one of them.

    Raises:
        Unreadable: the database cannot be read.
    """
    query, values = _SESSIONS, ()
    if directories is not None:
        query += f" WHERE directory IN ({','.join('?' * len(directories))})"
        values = tuple(map(_as_stored, directories))
    elif parent_id is not None:
        query, values = f"{query} WHERE parent_id = ?", (_as_stored(parent_id),)
    with reading(path) as connection:
        rows = cast(
            list[tuple[object, ...]], connection.execute(query + _NEWEST_FIRST, values).fetchall()
        )
    return tuple(
        StoredSession(
            session_id=text_of(session_id) or "",
            directory=text_of(directory),
            title=text_of(title) or "",
            updated_ms=int_of(updated),
            parent_id=text_of(parent_id),
        )
        for session_id, directory, title, updated, parent_id in rows
    )


def _as_stored(text: str) -> str:
    """Give text as a database can hold it; a path that is no text is in none."""
    return text.encode("utf-8", "replace").decode()


class DatabaseLines(SessionRows):
    """The lines of a session up to the message that was its last when it was looked at."""

    def __init__(self, path: Path, session_id: str, updated_ms: int | None = None) -> None:
        """Look at a session.

        Raises:
            Unreadable: the database cannot be read, or has no such session.
        """
        super().__init__(path, session_id, updated_ms)
        with reading(path) as connection:
            self._session_line = _read_session(connection, session_id, path)
            last = cast(_Key | None, connection.execute(_LAST, (session_id,)).fetchone())
            (n_messages,) = cast(tuple[int], connection.execute(_COUNT, (session_id,)).fetchone())
        self._n_messages = n_messages
        self._end: _Key = _FIRST if last is None else (last[0], last[1] + b"\0")
        """Right behind the last message."""

    @property
    def size_bytes(self) -> int:
        """How many lines there are, not their bytes."""
        return 1 + self._n_messages

    def forward(self, start: int = 0) -> Iterator[Line]:
        if start <= 0:
            yield Line(0, self._session_line)
        offset = max(1, start)
        for line in self._messages(_FORWARD, offset - 1):
            yield Line(offset, line)
            offset += 1

    def backward(self) -> Iterator[Line]:
        offset = self._n_messages
        for line in self._messages(_BACKWARD, 0):
            yield Line(offset, line)
            offset -= 1
        yield Line(0, self._session_line)

    def _messages(self, query: str, n_skipped: int) -> Iterator[bytes]:
        """Go on behind the last key: a page that skips what was read goes through all of it."""
        after: _Key = _FIRST
        before: _Key = self._end
        n_left = self._n_messages - n_skipped
        while page := self._page(query, after, before, min(PAGE_MESSAGES, n_left), n_skipped):
            yield from page.values()
            n_left -= len(page)
            n_skipped = 0
            last: _Key = next(reversed(page))
            if query is _FORWARD:
                after = last
            else:
                before = last

    def _page(
        self, query: str, after: _Key, before: _Key, n_wanted: int, n_skipped: int
    ) -> dict[_Key, bytes]:
        if n_wanted <= 0:
            return {}
        values = (self.session_id, *after, *before, n_wanted, n_skipped)
        with reading(self.path) as connection:
            rows = cast(list[_Row], connection.execute(query, values).fetchall())
            parts = _read_parts(connection, self.session_id, [row[1] for row in rows])
        return {
            (created, message_id): _message_line(
                self.session_id, message_id, data, parts.get(message_id, [])
            )
            for created, message_id, data in rows
        }


def _read_session(connection: sqlite3.Connection, session_id: str, path: Path) -> bytes:
    cursor = connection.execute("SELECT * FROM session WHERE id = ?", (session_id,))
    row = cast(tuple[object, ...] | None, cursor.fetchone())
    if row is None:
        raise Unreadable(f"{path} has no session {session_id}: name another session")
    names = [column[0] for column in cursor.description]
    values = {
        name: text_of(value) if isinstance(value, bytes) else value
        for name, value in zip(names, row, strict=True)
    }
    return json.dumps({"session": values}, separators=(",", ":")).encode() + b"\n"


def _read_parts(
    connection: sqlite3.Connection, session_id: str, message_ids: Sequence[bytes]
) -> dict[bytes, list[tuple[bytes, object]]]:
    """Read the parts of some messages at once: id and data, in their order."""
    marks = ",".join("?" * len(message_ids))
    query = (
        "SELECT message_id, id, data FROM part"  # noqa: S608 -- only question marks are put in
        # The plus keeps SQLite from going through all parts of the session for each page.
        f" WHERE +session_id = ? AND message_id IN ({marks}) ORDER BY message_id, id"
    )
    ids = [text_of(message_id) for message_id in message_ids]
    parts: dict[bytes, list[tuple[bytes, object]]] = {}
    rows = cast(
        Iterator[tuple[bytes, bytes, object]], connection.execute(query, (session_id, *ids))
    )
    for message_id, part_id, data in rows:
        parts.setdefault(message_id, []).append((part_id, data))
    return parts


def _message_line(
    session_id: str, message_id: bytes, data: object, parts: Sequence[tuple[bytes, object]]
) -> bytes:
    """Join the JSON of the rows as it stands, so that nothing in it is lost or rewritten."""
    ids = {"id": text_of(message_id), "sessionID": session_id}
    info = _with_fields(data, ids)
    joined = b",".join(
        _part(
            part_data,
            {"id": text_of(part_id), "messageID": ids["id"], "sessionID": session_id},
        )
        for part_id, part_data in parts
    )
    return b'{"info":' + info + b',"parts":[' + joined + b"]}\n"


def _part(data: object, fields: dict[str, str | None]) -> bytes:
    """Give a part as JSON; one that is damaged must not take its message with it."""
    text = _with_fields(data, fields)
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        try:
            json.loads(text.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return json.dumps({"type": "unreadable", **fields}).encode()
    return text


def _with_fields(data: object, fields: dict[str, str | None]) -> bytes:
    """Add the columns to a JSON object, behind its own fields, over which they win."""
    text = one_line(data) if isinstance(data, bytes) else b"null"
    if not (text.startswith(b"{") and text.endswith(b"}")):
        return text or b"null"
    body = text[1:-1].strip()
    added = json.dumps(fields, separators=(",", ":"))[1:-1].encode()
    return b"{" + body + (b"," if body else b"") + added + b"}"
