"""The vectors of a workspace's memory: a database beside the index, as making them costs money.

A vector is known by the digest of its chunk's text, so that no text is embedded twice, and belongs
to a space: what one model made in one number of dimensions. A new space is filled beside the one
that is searched, and takes its place when it is whole.
"""

import secrets
import sqlite3
import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from ullage.errors import StorageError
from ullage.store.files.atomic import make_folder, make_private_file, unwritable
from ullage.store.files.places import is_there

if TYPE_CHECKING:
    from ullage.store.memory.vector_table import VectorTable

SCHEMA = 1
"""Raised with every change of the tables; vectors of an older one are made again."""
_APPLICATION = 0x554C4D56
"""`ULMV`: a file without it holds no vectors of ours."""
_BUSY_S = 10
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
"""The last one is a statement that the tables do not fit."""
_TABLES = """
CREATE TABLE IF NOT EXISTS space (id INTEGER PRIMARY KEY, model TEXT NOT NULL, dimensions INTEGER,
    origin TEXT NOT NULL, answered_by TEXT NOT NULL, n_dimensions INTEGER NOT NULL,
    is_active INTEGER NOT NULL DEFAULT 0, weight REAL NOT NULL DEFAULT 0,
    close_score REAL NOT NULL DEFAULT 1, revision INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS vector (space INTEGER NOT NULL, digest BLOB NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (space, digest)) WITHOUT ROWID;
"""
"""Another Ullage may make them between a look at the file and its lock."""


class VectorSpace(msgspec.Struct, frozen=True, kw_only=True):
    """What vectors have in common that can be compared."""

    id: int
    model: str
    """As the user named it, as `dimensions`, which is None where the model decides."""
    dimensions: int | None
    origin: str
    """The server that was asked: no other is told the name of the model."""
    answered_by: str
    """The model as the server named it."""
    n_dimensions: int
    is_active: bool = False
    """Whether it is the one that is searched."""
    weight: float = 0.0
    """What its vectors count beside words, by the self-test."""
    close_score: float = 1.0
    """From which cosine on a chunk answers a question that shares no word with it."""
    revision: int = 0


class VectorStore:
    """The file of a workspace's vectors, opened for each use."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._loaded: tuple[int, int, VectorTable] | None = None

    def list_spaces(self) -> tuple[VectorSpace, ...]:
        """List the spaces, the one that is searched first.

        Raises:
            StorageError: they cannot be read; damaged ones are gone then.
        """
        if not is_there(self.path):
            return ()
        with self._open() as connection:
            found = connection.execute("SELECT * FROM space ORDER BY is_active DESC, id")
            names = [str(column[0]) for column in found.description]
            rows = cast("list[tuple[object, ...]]", found.fetchall())
        fields = (dict(zip(names, row, strict=True)) for row in rows)
        return tuple(msgspec.convert(row, VectorSpace, strict=False) for row in fields)

    def add_space(self, space: VectorSpace) -> VectorSpace:
        """Begin a space, and give it with its id; one that was begun before is given up."""
        space = msgspec.structs.replace(space, id=secrets.randbits(62))
        with self._open() as connection:
            connection.execute("DELETE FROM space WHERE NOT is_active")
            connection.execute(
                "INSERT INTO space (id, model, dimensions, origin, answered_by, n_dimensions)"
                " VALUES (:id, :model, :dimensions, :origin, :answered_by, :n_dimensions)",
                msgspec.structs.asdict(space),
            )
            connection.execute("DELETE FROM vector WHERE space NOT IN (SELECT id FROM space)")
        return space

    def list_missing(self, space: VectorSpace, digests: Iterable[str]) -> tuple[str, ...]:
        """List the chunks without a vector, each once, in their order."""
        with self._open() as connection:
            known = _list_digests(connection, space)
        return tuple(
            digest for digest in dict.fromkeys(digests) if bytes.fromhex(digest) not in known
        )

    def put(self, space: VectorSpace, vectors: Mapping[str, Sequence[float]]) -> None:
        """Keep vectors by the digests of their chunks; they are there when this returns.

        Raises:
            StorageError: the disk does not take them.
        """
        from ullage.store.memory.vector_table import pack_vector

        rows = [
            (space.id, bytes.fromhex(digest), pack_vector(vector))
            for digest, vector in vectors.items()
        ]
        with self._open() as connection:
            connection.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", rows)
            _revise(connection, space.id)

    def activate(
        self, space: VectorSpace, weight: float, close_score: float, digests: Iterable[str]
    ) -> None:
        """Make a space the one that is searched; others go, and so do vectors of texts long gone.

        Texts come back, by a branch that is checked out: as many are kept as there are chunks.
        """
        living = {bytes.fromhex(digest) for digest in digests}
        with self._open() as connection:
            connection.execute("DELETE FROM space WHERE id != ?", (space.id,))
            connection.execute("DELETE FROM vector WHERE space != ?", (space.id,))
            connection.execute(
                "UPDATE space SET is_active = 1, weight = ?, close_score = ? WHERE id = ?",
                (weight, close_score, space.id),
            )
            known = _list_digests(connection, space)
            if len(known) > 2 * len(living):
                gone = ((digest,) for digest in known - living)
                connection.executemany("DELETE FROM vector WHERE digest = ?", gone)
            _revise(connection, space.id)

    def load(self, space: VectorSpace) -> "VectorTable":
        """Load the vectors of a space, unless that was done and nothing has changed since."""
        loaded = self._loaded
        if loaded is not None and loaded[:2] == (space.id, space.revision):
            return loaded[2]
        from ullage.store.memory.vector_table import VectorTable

        with self._open() as connection:
            found = connection.execute(
                "SELECT lower(hex(digest)), data FROM vector WHERE space = ? AND length(data) = ?",
                (space.id, 2 * space.n_dimensions),
            )
            rows = cast("list[tuple[str, bytes]]", found.fetchall())
        digests = [digest for digest, _ in rows]
        table = VectorTable(digests, b"".join(data for _, data in rows), space.n_dimensions)
        self._loaded = (space.id, space.revision, table)
        return table

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        """Open the file for one transaction; make it where there is none.

        Raises:
            StorageError: it cannot be used; one that is damaged is gone then.
        """
        try:
            make_folder(self.path.parent)
            make_private_file(self.path)
            with closing(sqlite3.connect(self.path, timeout=_BUSY_S)) as connection:
                self._check(connection)
                with connection:
                    yield connection
            return
        except OSError as error:
            raise unwritable(self.path, error) from None
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGED:
                raise StorageError(f"{self.path} cannot be used: {error}") from None
        self._throw_away()

    def _check(self, connection: sqlite3.Connection) -> None:
        # Read first: another Ullage may begin the file meanwhile.
        n_pages = _read_pragma(connection, "page_count")
        names = ("application_id", "user_version")
        application, version = (_read_pragma(connection, name) for name in names)
        if not n_pages:
            connection.executescript(
                f"BEGIN IMMEDIATE; PRAGMA application_id = {_APPLICATION};"
                f" PRAGMA user_version = {SCHEMA}; {_TABLES} COMMIT;"
            )
        elif application == _APPLICATION and version > SCHEMA:
            raise StorageError(f"{self.path} is of a newer version of Ullage: update this one")
        elif (application, version) != (_APPLICATION, SCHEMA):
            connection.execute("SELECT * FROM not_vectors_of_ours")

    def _throw_away(self) -> None:
        with suppress(FileNotFoundError):
            self.path.unlink()
        with suppress(FileNotFoundError):
            self.path.with_name(f"{self.path.name}-journal").unlink()
        raise StorageError(
            f"{self.path} was damaged and is thrown away: `ullage memory reindex` embeds again"
        )


def refuse_without_numpy() -> None:
    """Refuse what needs vectors where they cannot be compared.

    Raises:
        StorageError: NumPy is not installed.
    """
    if find_spec("numpy") is None:
        raise StorageError(
            f"vectors need NumPy: `{sys.executable} -m pip install 'numpy>=2,<3'` adds it"
        )


def _list_digests(connection: sqlite3.Connection, space: VectorSpace) -> set[bytes]:
    found = connection.execute("SELECT digest FROM vector WHERE space = ?", (space.id,))
    return {digest for (digest,) in cast("list[tuple[bytes]]", found.fetchall())}


def _read_pragma(connection: sqlite3.Connection, name: str) -> int:
    return cast("int", connection.execute(f"PRAGMA {name}").fetchone()[0])


def _revise(connection: sqlite3.Connection, space_id: int) -> None:
    connection.execute("UPDATE space SET revision = revision + 1 WHERE id = ?", (space_id,))
