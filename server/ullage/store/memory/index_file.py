"""The file of an index of memory: opened, begun anew, and what its errors mean.

It is one SQLite file with a log of writes ahead, disposable as a whole.
"""

import os
import sqlite3
from pathlib import Path
from typing import cast

from ullage.core.memory.chunks import CHUNKER
from ullage.errors import IndexDamaged, StateBusy, StorageError
from ullage.store.files.atomic import make_private_file, remove_quietly, unwritable
from ullage.store.files.quick_lock import quick_lock

LOCK = "index.lock"
_APPLICATION = 0x554C4D49
"""`ULMI`: a file without it is no index of memory."""
_VERSION = 100 * CHUNKER + 4
"""Of chunks and tables: an index of another one is thrown away."""
WAIT_S = 20
"""For another Ullage that brings the index up to date; chosen: twice what 40,000 chunks take."""
SQLITE_ERRORS = (sqlite3.DatabaseError, UnicodeDecodeError)
"""The second for a message that quotes what is damaged."""
_CACHE_KIB = 32 * 1024
_OF_THE_DISK = (
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM),
    *(sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY),
)
_TABLES = """
CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT UNIQUE NOT NULL, size INTEGER NOT NULL,
    changed_ns INTEGER NOT NULL, day TEXT NOT NULL, is_memory INTEGER NOT NULL,
    is_log INTEGER NOT NULL);
CREATE TABLE chunk (id INTEGER PRIMARY KEY, first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL, digest TEXT NOT NULL,
    words TEXT NOT NULL, context TEXT NOT NULL);
CREATE INDEX chunk_digest ON chunk (digest);
CREATE TABLE size (n_chunks INTEGER NOT NULL, n_chars INTEGER NOT NULL);
INSERT INTO size VALUES (0, 0);
CREATE VIRTUAL TABLE fts USING fts5 (words, context, content='chunk', content_rowid='id',
    columnsize=0, detail=column,
    tokenize="ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\\]^_`{|}~'");
CREATE VIRTUAL TABLE word USING fts5vocab (fts, row);
"""
"""Words are parted by blanks alone and not folded: what a word is, `core.memory.words` says."""
_KIND = "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version"


def open_index_file(path: Path | None, *, is_anew: bool = False) -> tuple[sqlite3.Connection, bool]:
    """Open an index, and tell whether what was there had to be thrown away.

    `path` None keeps it in this process; `is_anew` throws away what is there in any case.

    Raises:
        StorageError: the state folder does not take it.
    """
    if path is None:
        return _connect(None), False
    # A log of writes that is removed while another Ullage begins anew would be that one's.
    with quick_lock(path.with_name(LOCK), timeout_s=WAIT_S):
        if is_anew:
            _remove(path)
        try:
            return _connect(path), False
        except IndexDamaged:
            _remove(path)
            return _connect(path), True


def _connect(path: Path | None) -> sqlite3.Connection:
    """Connect to an index of this version, begun anew where there is none.

    Raises:
        StorageError: the disk does not take it.
        IndexDamaged: what is there is no such index.
    """
    try:
        if path is not None:
            make_private_file(path)
        return _begin(path)
    except OSError as error:
        raise unwritable(path or Path(), error) from None
    except SQLITE_ERRORS as error:
        raise explain_error(error, path) from None


def _begin(path: Path | None) -> sqlite3.Connection:
    connection = sqlite3.connect(
        ":memory:" if path is None else path,
        timeout=WAIT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        # A crash of the machine may take the last change: the files tell it again.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        if connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
            connection.executescript(
                f"BEGIN IMMEDIATE; {_TABLES} PRAGMA application_id = {_APPLICATION};"
                f" PRAGMA user_version = {_VERSION}; COMMIT;"
            )
        elif connection.execute(_KIND).fetchone() != (_APPLICATION, _VERSION):
            raise say_damaged(path)
    except BaseException:
        connection.close()
        raise
    return connection


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        remove_quietly(path.with_name(path.name + suffix))
    if os.path.lexists(path):
        raise StorageError(f"cannot replace {path}: end the other programs that have it open")


def explain_error(error: Exception, path: Path | None) -> StorageError:
    """Tell what one of `SQLITE_ERRORS` means: another Ullage, the disk, or damage."""
    # What cannot be decoded has no code.
    code = cast(int, getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StateBusy("another Ullage is writing to the index of this memory: try again")
    if code in _OF_THE_DISK:
        return StorageError(f"cannot use {path}: {error}. Make room, or make it writable")
    return say_damaged(path)


def say_damaged(path: Path | None) -> IndexDamaged:
    return IndexDamaged(f"{path} is damaged: `ullage memory reindex` builds it again")
