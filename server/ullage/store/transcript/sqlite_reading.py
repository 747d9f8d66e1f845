"""Databases of agents, opened to read only and never for longer than one page of rows.

A WAL database without a log is opened as immutable, else SQLite would make a log beside it. The
index of the log, which is shared memory, is not touched either while an agent runs; where one
has crashed and left a log without an index, SQLite must rebuild the index to read the log.

No file is opened past SQLite that has a log: on POSIX, to close it would drop all locks that this
process has on it, and an agent could throw its log away while another thread reads.
"""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from ullage.errors import OtherDatabase, Unreadable
from ullage.store.transcript.database import log_of
from ullage.store.transcript.reader import open_to_read

BUSY_TIMEOUT_S = 1.0
"""Agents hold their write lock for milliseconds (chosen)."""
_MODE_BYTES = slice(18, 20)
"""The header's file format versions; 2 is WAL (sqlite.org/fileformat2.html §1.3)."""
_BUSY_CODES = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED_CODES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
_DAMAGED = "it is damaged. The agent cannot read it either: put back a copy of it"


@contextmanager
def reading(path: Path) -> Generator[sqlite3.Connection]:
    """Open a database for one short reading; text comes as bytes, valid or not.

    Raises:
        OtherDatabase: its tables are not those that were expected.
        Unreadable: it is missing, locked or damaged.
    """
    try:
        with closing(_connect(path)) as connection:
            connection.text_factory = bytes
            yield connection
    except UnicodeDecodeError:
        # Python decodes SQLite's own message, in which the file's text may stand.
        raise Unreadable(f"cannot read {path}: {_DAMAGED}") from None
    except sqlite3.Error as error:
        text = str(error)
        if text.startswith(("no such table", "no such column")):
            raise OtherDatabase(
                f"cannot read {path}: {text}. It is another database, or of a version that Ullage"
                " does not know"
            ) from None
        raise Unreadable(f"cannot read {path}: {_reason(error)}") from None


def text_of(value: object) -> str | None:
    """Read a column as text; None where it holds none."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else None


def int_of(value: object) -> int | None:
    return value if isinstance(value, int) else None


def one_line(data: bytes) -> bytes:
    """Make JSON text one line: outside of strings line ends are blanks, inside there are none."""
    return data.replace(b"\r", b" ").replace(b"\n", b" ").strip()


def _connect(path: Path) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=ro"
    if path.with_name(f"{path.name}-shm").exists():
        uri += "&readonly_shm=1"
    elif not log_of(path).exists() and _is_wal(path):
        uri += "&immutable=1"
    return sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_S, check_same_thread=False)


def _is_wal(path: Path) -> bool:
    with open_to_read(path) as file:
        return file.read(_MODE_BYTES.stop)[_MODE_BYTES] == b"\x02\x02"


def _reason(error: sqlite3.Error) -> str:
    # An error that Python's module raises itself has no code of SQLite's.
    code = getattr(error, "sqlite_errorcode", None)
    kind = code & 0xFF if isinstance(code, int) else None
    if kind in _BUSY_CODES:
        return "it is locked, as the agent is writing to it. Try again in a moment"
    return _DAMAGED if kind in _DAMAGED_CODES else f"{error}. Check its disk and its permissions"
