"""Databases of agents, without SQLite: where they are, what is known of a session in one."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from ullage.store.transcript.reader import Fingerprint, look_at

_LOG_ENDING = "-wal"


class StoredSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session as an agent's database lists it."""

    session_id: str
    directory: str | None
    title: str
    updated_ms: int | None
    parent_id: str | None
    """The session that this one is a subagent of."""


class SessionRows:
    """A session in a database as it was when it was looked at."""

    def __init__(self, path: Path, session_id: str, updated_ms: int | None) -> None:
        self.path = path
        self.session_id = session_id
        self._updated_ms = updated_ms
        self.fingerprints = look_at_database(path)

    @property
    def written_ns(self) -> int:
        if self._updated_ms is not None:
            return self._updated_ms * 1_000_000
        return max(fingerprint.mtime_ns for fingerprint in self.fingerprints)

    def is_current(self) -> bool:
        return look_at_database(self.path) == self.fingerprints


def find_databases(patterns: Iterable[tuple[Path, str]]) -> tuple[Path, ...]:
    """List the files that match, each pattern being a folder and what to look for below it."""
    found: list[Path] = []
    for folder, pattern in patterns:
        # Below a folder that cannot be looked into there is none.
        with suppress(OSError):
            found += [path for path in sorted(folder.glob(pattern)) if path.is_file()]
    return tuple(found)


def look_at_database(path: Path) -> tuple[Fingerprint, ...]:
    """Take the fingerprints of a database and its log; any write changes one of them.

    Raises:
        Unreadable: it is missing or no regular file.
    """
    log = log_of(path)
    return (look_at(path), look_at(log)) if log.is_file() else (look_at(path),)


def log_of(path: Path) -> Path:
    """Name the log of a database, to which what is new goes first."""
    return path.with_name(f"{path.name}{_LOG_ENDING}")


def database_of(path: Path) -> Path:
    """Name the database that a file is the log of; any other file is meant itself."""
    name = path.name.removesuffix(_LOG_ENDING)
    return path.with_name(name) if name else path
