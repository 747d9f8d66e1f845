"""Token counts kept by content, so that no text is counted twice and most runs load no tokenizer.

One SQLite file below the state folder, a cache: what cannot be read or written is counted again.
Keys are BLAKE2b digests of the text, so that no text of a transcript is in it.
"""

import sqlite3
from _thread import allocate_lock
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeAlias, cast

from ullage.core.text.digest import blake2b
from ullage.errors import UllageError
from ullage.store.files.atomic import make_folder, make_private_file
from ullage.store.files.places import is_there
from ullage.store.gauge.tokenizer import count_tokens

DIGEST_BYTES = 16
BUSY_TIMEOUT_S = 1.0
MAX_CACHE_BYTES = 64 * 1024 * 1024
"""About a million texts; beyond it the cache starts again (chosen)."""
_CREATE = (
    "CREATE TABLE IF NOT EXISTS counts"
    " (encoding TEXT, digest BLOB, n_tokens INTEGER, PRIMARY KEY (encoding, digest)) WITHOUT ROWID"
)
WRITTEN_CHARS = 64 * 1024
"""To count so much again takes some ten milliseconds, as a transaction does (chosen)."""
CountText: TypeAlias = Callable[[str, str], int]
"""Counts a text with a named encoding."""

_SELECT = "SELECT n_tokens FROM counts WHERE encoding = ? AND digest = ?"


class TokenCounts:
    """Counts with one encoding; callable on a text, from any thread. `save` keeps new counts.

    Without `is_kept` nothing is written, as for a session in a read-only sandbox.
    """

    def __init__(
        self,
        encoding: str,
        state_folder: Path,
        count_text: CountText = count_tokens,
        *,
        is_kept: bool = True,
    ) -> None:
        self.count_text = count_text
        self._encoding = encoding
        self._path = state_folder / "index" / "tokens.sqlite"
        self._known: dict[str, int] = {}
        """By the text itself: a text keeps its hash, so that it is looked up and not read."""
        self._new: dict[bytes, int] = {}
        self._n_new_chars = self._n_written_chars = 0
        """In those texts; with how many they are written."""
        self._lock = allocate_lock()  # `threading` has no other
        self._reader: sqlite3.Connection | None = None
        self._close: Callable[[], object] = lambda: None
        self._is_readable = is_there(self._path)
        self._is_kept = is_kept

    def __call__(self, text: str) -> int:
        # Most are known, and a count never changes: nobody waits for the lock.
        n_tokens = self._known.get(text) if text else 0
        if n_tokens is not None:
            return n_tokens
        with self._lock:
            n_tokens = self._known.get(text)
            if n_tokens is None:
                digest = _digest(text)
                n_tokens = self._read(digest)
                if n_tokens is None:
                    n_tokens = self._new[digest] = self.count_text(text, self._encoding)
                    self._n_new_chars += len(text)
                self._known[text] = n_tokens
        return n_tokens

    def __del__(self) -> None:
        # What is counted after the last `save` leaves it open.
        self._close()

    def known(self, text: str) -> int | None:
        """Give a count that is kept; None where the text would have to be counted."""
        with self._lock:
            n_tokens = self._known.get(text)
            if n_tokens is None and text:
                n_tokens = self._read(_digest(text))
        return n_tokens if text else 0

    def warm_up(self) -> None:
        """Load what counts even if all counts are kept; a tokenizer takes half a second."""
        self.count_text("warm", self._encoding)

    def save(self) -> None:
        """Keep what was counted; where the state folder cannot be written, nothing is kept.

        After the first time what is little waits for more: a session is followed line by line.
        """
        with self._lock:
            if self._n_new_chars < self._n_written_chars:
                return
            self._n_written_chars = WRITTEN_CHARS
            self._close()
            self._reader = None
            if self._new and self._is_kept:
                with suppress(UllageError, OSError, sqlite3.Error, UnicodeDecodeError):
                    self._write()
            self._new.clear()
            self._n_new_chars = 0

    def _read(self, digest: bytes) -> int | None:
        if not self._is_readable:
            return None
        try:
            if self._reader is None:
                self._reader = sqlite3.connect(
                    self._path, timeout=BUSY_TIMEOUT_S, check_same_thread=False
                )
                self._close = self._reader.close
            row = cast(
                tuple[int] | None,
                self._reader.execute(_SELECT, (self._encoding, digest)).fetchone(),
            )
        except (sqlite3.Error, UnicodeDecodeError):  # the second for damage that is no text
            self._is_readable = False
            return None
        return None if row is None else row[0]

    def _write(self) -> None:
        make_folder(self._path.parent)
        rows = [(self._encoding, digest, n_tokens) for digest, n_tokens in self._new.items()]
        if self._path.is_file() and self._path.stat().st_size > MAX_CACHE_BYTES:
            self._path.unlink()
        make_private_file(self._path)
        with closing(sqlite3.connect(self._path, timeout=BUSY_TIMEOUT_S)) as writer, writer:
            writer.execute(_CREATE)
            writer.executemany("INSERT OR IGNORE INTO counts VALUES (?, ?, ?)", rows)


def _digest(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=DIGEST_BYTES).digest()
