"""What is known of folders of transcripts, on disk: a cache, thrown away when in doubt.

One SQLite file below the state folder, for all folders and all processes. It holds names, stamps
and whose each transcript is. What is wrong with it costs reading anew, never an answer.
"""

import os
import sqlite3
from collections.abc import Generator, Iterable, Mapping, Sequence, Set
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias, TypeVar, cast

import msgspec

from ullage.store.files.atomic import make_folder, make_private_file, remove_quietly
from ullage.store.files.places import Places

T = TypeVar("T")

VERSION = 1
"""Of the tables; a file of another one is thrown away."""
BUSY_TIMEOUT_S = 5.0
"""Others write for less than a second (chosen)."""
CACHE_ERRORS = (sqlite3.Error, ValueError)
"""The second for damage that is no value of ours any more: no text, of another type, no name."""
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
_TABLES = """
CREATE TABLE IF NOT EXISTS folder (id INTEGER PRIMARY KEY AUTOINCREMENT, path BLOB UNIQUE NOT NULL,
    stamp TEXT NOT NULL, subfolders BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS file (folder INTEGER NOT NULL, name BLOB NOT NULL, stamp TEXT NOT NULL,
    owner BLOB NOT NULL, PRIMARY KEY (folder, name)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS file_owner ON file (owner, folder);
"""
_NOTE_FOLDER = (
    "INSERT INTO folder (path, stamp, subfolders) VALUES (?, ?, ?) ON CONFLICT (path)"
    " DO UPDATE SET stamp = excluded.stamp, subfolders = excluded.subfolders"
)
_NOTE_FILE = "INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?)"
_Row: TypeAlias = tuple[bytes, str, bytes]
_RowWithId: TypeAlias = tuple[int, bytes, str, bytes]

_in_memory: dict[Path, sqlite3.Connection] = {}
"""What this process knows, by file, where nothing is kept."""
_given_up: set[Path] = set()
"""Files that cannot be used."""


class KnownFile(msgspec.Struct, frozen=True):
    """A transcript, or what may become one, as it was when its header was read."""

    name: str
    stamp: str
    """Empty for what is read at each look: a link, and what could not be read."""
    owner: str
    """Whose it is; empty where no agent that we know wrote it, yet."""


class KnownFolder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder as it was when it was listed."""

    stamp: str
    """Empty where it may have changed since without another stamp."""
    subfolders: tuple[str, ...]
    folder_id: int | None = None


class KnownFolders:
    """All that is known, on one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def list_folders(self) -> dict[str, KnownFolder]:
        query = "SELECT id, path, stamp, subfolders FROM folder"
        rows = self._fetch(list[_RowWithId], query, ())
        return {
            os.fsdecode(path): KnownFolder(
                folder_id=folder_id,
                stamp=stamp,
                subfolders=tuple(map(os.fsdecode, subfolders.split(b"\0") if subfolders else ())),
            )
            for folder_id, path, stamp, subfolders in rows
        }

    def list_files(self, folder_id: int | None) -> list[KnownFile]:
        query = "SELECT name, stamp, owner FROM file WHERE folder = ?"
        return [_file_of(*row) for row in self._fetch(list[_Row], query, (folder_id,))]

    def find_files(
        self, folders: Mapping[int, str], owners: Set[str]
    ) -> list[tuple[str, KnownFile]]:
        """Find the files of some folders that belong to one of the owners, or to nobody yet."""
        marks, ids = ",".join("?" * (len(owners) + 1)), ",".join(map(str, folders))
        query = (
            "SELECT folder, name, stamp, owner FROM file"  # noqa: S608 -- numbers are put in
            f" WHERE owner IN ({marks}) AND folder IN ({ids})"
        )
        values = [_encode(owner) for owner in ("", *owners)]
        rows = self._fetch(list[_RowWithId], query, values)
        return [(folders[row[0]], _file_of(*row[1:])) for row in rows]

    def write(
        self,
        listed: Mapping[str, tuple[KnownFolder, tuple[KnownFile, ...]]],
        read: Iterable[tuple[str, KnownFile]],
    ) -> None:
        """Note folders that were listed anew and files that were read; forget what is gone."""
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            for path, (folder, files) in listed.items():
                self._write_folder(path, folder, {file.name: file for file in files})
            for path, file in read:
                self._connection.execute(
                    "UPDATE file SET stamp = ?, owner = ? WHERE name = ? AND folder ="
                    " (SELECT id FROM folder WHERE path = ?)",
                    (file.stamp, _owner_of(file), os.fsencode(file.name), os.fsencode(path)),
                )
            gone = [path for path in self.list_folders() if not Path(path).is_dir()]
            for path in gone:
                self._connection.execute("DELETE FROM folder WHERE path = ?", (os.fsencode(path),))
            if gone:
                self._connection.execute(
                    "DELETE FROM file WHERE folder NOT IN (SELECT id FROM folder)"
                )

    def _fetch(self, rows: type[T], query: str, values: Sequence[int | bytes | None]) -> T:
        # SQLite gives each value with the type that the file says it has.
        fetched = self._connection.execute(query, values).fetchall()
        return msgspec.convert(fetched, rows, builtin_types=(bytes,))

    def _write_folder(self, path: str, folder: KnownFolder, files: dict[str, KnownFile]) -> None:
        subfolders = b"\0".join(map(os.fsencode, folder.subfolders))
        key = os.fsencode(path)
        self._connection.execute(_NOTE_FOLDER, (key, folder.stamp, subfolders))
        query = "SELECT id FROM folder WHERE path = ?"
        (folder_id,) = cast(tuple[int], self._connection.execute(query, (key,)).fetchone())
        before = {file.name: file for file in self.list_files(folder_id)}
        self._connection.executemany(
            "DELETE FROM file WHERE folder = ? AND name = ?",
            [(folder_id, os.fsencode(name)) for name in before.keys() - files.keys()],
        )
        self._connection.executemany(
            _NOTE_FILE,
            [
                (folder_id, os.fsencode(file.name), file.stamp, _owner_of(file))
                for file in files.values()
                if before.get(file.name) != file
            ],
        )


@contextmanager
def open_known_folders(places: Places) -> Generator[KnownFolders]:
    """Open what is known; nothing is kept where no cache may be, or where it was given up.

    Raises:
        sqlite3.Error: it cannot be used, or is damaged; so may whatever is asked of it.
        ValueError: what is asked of it is damaged.
        StateUnwritable: the state folder does not take it.
        OSError: the same.
    """
    path = _path(places)
    if not places.keeps_caches or path in _given_up:
        if path not in _in_memory:
            _in_memory[path] = _copy(path)
        yield KnownFolders(_in_memory[path])
        return
    make_folder(path.parent)
    make_private_file(path)
    with closing(_connect(path)) as connection:
        yield KnownFolders(connection)


def give_up(places: Places, error: Exception) -> None:
    """Keep what is known in memory from now on; throw the file away if it is damaged."""
    path = _path(places)
    _given_up.add(path)
    # What Python refuses, or we do, has no code.
    code = cast(int, getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)) & 0xFF
    if not isinstance(error, CACHE_ERRORS) or code not in _DAMAGED:
        return
    if places.keeps_caches:
        # Its journal first: it would be taken for that of a new file.
        for name in (f"{path.name}-journal", path.name):
            remove_quietly(path.with_name(name))
    if path in _in_memory:
        _in_memory[path].close()
    _in_memory[path] = _connect(":memory:")


def _path(places: Places) -> Path:
    return places.state_folder / "index" / "folders.sqlite"


def _copy(path: Path) -> sqlite3.Connection:
    """Copy what a file knows into memory; nothing where it cannot be read."""
    memory = _connect(":memory:")
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with (
        suppress(*CACHE_ERRORS),
        closing(sqlite3.connect(uri, timeout=BUSY_TIMEOUT_S, uri=True)) as file,
    ):
        if _version_of(file) == VERSION:
            file.backup(memory)
    return memory


def _connect(path: Path | str) -> sqlite3.Connection:
    # One thread at a time uses it.
    connection = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
    )
    try:
        if _version_of(connection) == 0:
            connection.executescript(
                f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;"
            )
        if _version_of(connection) != VERSION:
            raise sqlite3.DatabaseError("the file is of another version")
    except BaseException:
        connection.close()
        raise
    return connection


def _version_of(connection: sqlite3.Connection) -> int:
    return cast(tuple[int], connection.execute("PRAGMA user_version").fetchone())[0]


def _file_of(name: bytes, stamp: str, owner: bytes) -> KnownFile:
    return KnownFile(os.fsdecode(name), stamp, owner.decode("utf-8", "surrogatepass"))


def _owner_of(file: KnownFile) -> bytes:
    """Give the owner by which a file is found: what is read at each look has none."""
    return _encode(file.owner if file.stamp else "")


def _encode(owner: str) -> bytes:
    return owner.encode("utf-8", "surrogatepass")
