"""The index of a workspace's memory: one SQLite file that can be thrown away at any time.

Each change is one transaction with a log of writes ahead: readers see the index as it was until
the change is whole, and so does whoever comes after a process that was killed.
"""

import json
import sqlite3
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias, cast

import msgspec

from ullage.core.memory.chunks import CHUNKER, chunk_digest, read_chunks
from ullage.core.memory.ranking import MAX_PER_FILE_BITS, Candidate, ChunkId, Posting
from ullage.core.memory.words import read_words
from ullage.errors import StateBusy, StorageError
from ullage.store.files.atomic import make_folder, make_private_file, remove_quietly, unwritable

N_NEIGHBORS = 2
MAX_NEAR_WORDS = 70
"""Chunks before and after that are the surroundings of one, as far as these words of each side
reach (docs/design/memory.md, "Search").
"""
_APPLICATION = 0x554C4D49
"""`ULMI`: a file without it is no index of memory."""
_VERSION = 100 * CHUNKER + 4
"""Of chunks and tables: an index of another one is thrown away."""
_WAIT_S = 20
"""For another Ullage that brings the index up to date; chosen: twice what 40,000 chunks take."""
_CACHED_WORDS = 4_096
_CACHE_KIB = 32 * 1024
_TABLES = """
CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT UNIQUE NOT NULL, size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, day TEXT NOT NULL, is_memory INTEGER NOT NULL,
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
_CANDIDATES = """SELECT id, words, context FROM chunk
    WHERE id IN (SELECT value FROM json_each(?))"""
_CHUNKS = """SELECT chunk.id, path, first_line, last_line, heading, text, day, is_memory, is_log,
    digest FROM chunk JOIN file ON file.id = chunk.id >> ?
    WHERE chunk.id IN (SELECT value FROM json_each(?))"""
_BY_DIGEST = """SELECT id, digest FROM chunk
    WHERE digest IN (SELECT value FROM json_each(?)) ORDER BY id"""
_ADD = """INSERT INTO fts (rowid, words, context)
    SELECT id, words, context FROM chunk WHERE id >= ? AND id < ?"""
_DROP = """INSERT INTO fts (fts, rowid, words, context)
    SELECT 'delete', id, words, context FROM chunk WHERE id >= ? AND id < ?"""
_COUNT = """UPDATE size SET n_chunks = n_chunks + ? * part.n, n_chars = n_chars + ? * part.chars
    FROM (SELECT count(*) AS n, ifnull(sum(length(words) + length(context)), 0) AS chars
    FROM chunk WHERE id >= ? AND id < ?) AS part"""
_FIRST = itemgetter(0)
_ChunkRow: TypeAlias = tuple[int, int, int, str, str, str, str, str]
_FoundRow: TypeAlias = tuple[int, str, int, int, str, str, str, int, int, str]


class SourceFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is to be in the index, as a look at its folder tells."""

    path: str
    """Relative to the workspace, with `/`."""
    size: int
    mtime_ns: int
    """Below 0 where it was written so lately that it may change again unseen."""
    day: str
    """`YYYY-MM-DD`: of a daily log by its name, else of the last change."""
    is_memory: bool
    """Whether it is of `MEMORY.md` and `memory/`, not another page of the workspace."""
    is_log: bool
    """Whether its name is the day that it is of."""


class IndexedChunk(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    first_line: int
    last_line: int
    heading: str
    text: str
    day: str
    is_memory: bool
    is_log: bool
    digest: str


class IndexSize(msgspec.Struct, frozen=True, kw_only=True):
    n_chunks: int
    mean_chars: float
    """Of the words and the surroundings of a chunk."""


class MemoryIndex:
    """An open index. One thread at a time; `path` None keeps it in this process alone."""

    def __init__(self, path: Path | None) -> None:
        """Open an index, or begin one; a damaged or foreign one is thrown away.

        Raises:
            StorageError: the state folder does not take it.
        """
        self.path = path
        self.was_rebuilt = False
        """Whether there was an index that had to be thrown away."""
        self._postings: dict[str, Posting] = {}
        self._counts: dict[str, int] = {}
        self._version = (-1,)
        self._connection = self._open()

    def close(self) -> None:
        self._connection.close()

    def throw_away(self) -> None:
        """Begin anew, without anything.

        Raises:
            StorageError: the state folder does not take it.
        """
        self.close()
        if self.path is not None:
            _remove(self.path)
        self._forget()
        self._connection = self._open()

    def update(self, changed: Iterable[tuple[SourceFile, str]], gone: Iterable[str]) -> None:
        """Take in changed files with their texts, and drop those that are gone.

        Readers go on with what was there until it is done.

        Raises:
            StateBusy: another Ullage is writing to the index.
            StorageError: the disk does not take it.
        """
        with self._writing():
            for path in gone:
                self._drop(path)
            first_id = None
            for file, text in changed:
                self._drop(file.path)
                chunk_id = self._add(file, text)
                first_id = chunk_id if first_id is None else min(first_id, chunk_id)
            if first_id is not None:
                # A new file's id is above all others: what is new ends the table.
                span = (first_id, (1 << 63) - 1)
                self._connection.execute(_ADD, span)
                self._connection.execute(_COUNT, (1, 1, *span))

    def size(self) -> IndexSize:
        n_chunks, n_chars = cast(
            tuple[int, int],
            self._connection.execute("SELECT n_chunks, n_chars FROM size").fetchone(),
        )
        return IndexSize(n_chunks=n_chunks, mean_chars=n_chars / n_chunks if n_chunks else 1.0)

    def list_files(self) -> dict[str, tuple[int, int]]:
        """Give size and `mtime_ns` of each indexed file by its path."""
        rows = cast(
            Iterable[tuple[str, int, int]],
            self._connection.execute("SELECT path, size, mtime_ns FROM file"),
        )
        return {path: (size, mtime_ns) for path, size, mtime_ns in rows}

    def find_files(self, *, is_memory: bool | None, since: str) -> frozenset[int]:
        """Find the ids of files that are memory or not, or either, and not older than a day."""
        rows = self._connection.execute(
            "SELECT id FROM file WHERE day >= ? AND is_memory IN (?, ?)",
            (since, is_memory is not False, is_memory is True),
        )
        return frozenset(map(_FIRST, cast(Iterable[tuple[int]], rows)))

    def count_chunks(self, words: Iterable[str]) -> dict[str, int]:
        """Tell how many chunks hold each word, in their text or their surroundings."""
        version = cast(tuple[int], self._connection.execute("PRAGMA data_version").fetchone())
        if version != self._version:
            # Another process changed the index.
            self._version = version
            self._forget()
        counts: dict[str, int] = {}
        for word in words:
            count = self._counts.get(word)
            if count is None:
                rows = self._connection.execute("SELECT doc FROM word WHERE term = ?", (word,))
                row = cast(tuple[int] | None, rows.fetchone())
                count = self._counts[word] = row[0] if row else 0
            counts[word] = count
        return counts

    def find_postings(self, words: Iterable[str]) -> dict[str, Posting]:
        """Give the chunks that hold each word."""
        postings: dict[str, Posting] = {}
        for word in words:
            posting = self._postings.get(word)
            if posting is None:
                posting = Posting(
                    in_text=self._match("words", word), in_context=self._match("context", word)
                )
                if len(self._postings) >= _CACHED_WORDS:
                    self._postings.clear()
                self._postings[word] = posting
            postings[word] = posting
        return postings

    def read_candidates(self, chunk_ids: Sequence[ChunkId]) -> Iterator[Candidate]:
        rows = cast(
            Iterable[tuple[int, str, str]],
            self._connection.execute(_CANDIDATES, (str(list(chunk_ids)),)),
        )
        for chunk_id, words, context in rows:
            yield Candidate(chunk_id=chunk_id, words=words, context=context)

    def read_chunks(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, IndexedChunk]:
        values = (MAX_PER_FILE_BITS, str(list(chunk_ids)))
        rows = cast(Iterable[_FoundRow], self._connection.execute(_CHUNKS, values))
        return {
            chunk_id: IndexedChunk(
                path=path,
                first_line=first_line,
                last_line=last_line,
                heading=heading,
                text=text,
                day=day,
                is_memory=bool(is_memory),
                is_log=bool(is_log),
                digest=digest,
            )
            for (
                chunk_id, path, first_line, last_line, heading, text, day, is_memory, is_log, digest
            ) in rows
        }  # fmt: skip

    def list_digests(self) -> dict[ChunkId, str]:
        """Give the digest of each chunk's text, in the order of files and lines."""
        rows = self._connection.execute("SELECT id, digest FROM chunk INDEXED BY chunk_digest")
        return dict(sorted(cast(Iterable[tuple[int, str]], rows)))

    def newest_digests(self, limit: int) -> dict[ChunkId, str]:
        """Give the digests of the chunks of the files that were indexed last."""
        rows = self._connection.execute(
            "SELECT id, digest FROM chunk ORDER BY id DESC LIMIT ?", (limit,)
        )
        return dict(cast(Iterable[tuple[int, str]], rows))

    def find_digests(self, digests: Iterable[str]) -> dict[ChunkId, str]:
        """Find the chunks that have one of some texts."""
        rows = self._connection.execute(_BY_DIGEST, (json.dumps(list(digests)),))
        return dict(cast(Iterable[tuple[int, str]], rows))

    def _open(self) -> sqlite3.Connection:
        if self.path is not None:
            make_folder(self.path.parent)
        try:
            return _connect(self.path)
        except OSError as error:
            raise unwritable(self.path or Path(), error) from None
        except sqlite3.OperationalError as error:
            raise self._unusable(error) from None
        except sqlite3.DatabaseError:
            if self.path is None:
                raise
            _remove(self.path)
            self.was_rebuilt = True
            return _connect(self.path)

    @contextmanager
    def _writing(self) -> Generator[None]:
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield
            connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise self._unusable(error) from None
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._forget()

    def _unusable(self, error: sqlite3.OperationalError) -> StorageError:
        if error.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return StateBusy("another Ullage is writing to the index of this memory: try again")
        return StorageError(f"cannot write {self.path}: {error}. Make room, or make it writable")

    def _forget(self) -> None:
        self._postings.clear()
        self._counts.clear()

    def _match(self, column: str, word: str) -> tuple[ChunkId, ...]:
        quoted = word.replace('"', '""')
        rows = cast(
            Iterable[tuple[int]],
            self._connection.execute(
                "SELECT rowid FROM fts WHERE fts MATCH ?", (f'{column}:"{quoted}"',)
            ),
        )
        return tuple(map(_FIRST, rows))

    def _drop(self, path: str) -> None:
        rows = self._connection.execute("SELECT id FROM file WHERE path = ?", (path,))
        row = cast(tuple[int] | None, rows.fetchone())
        if row is None:
            return
        (file_id,) = row
        span = _span_of(file_id)
        self._connection.execute(_DROP, span)
        self._connection.execute(_COUNT, (-1, -1, *span))
        self._connection.execute("DELETE FROM chunk WHERE id >= ? AND id < ?", span)
        self._connection.execute("DELETE FROM file WHERE id = ?", (file_id,))

    def _add(self, file: SourceFile, text: str) -> ChunkId:
        """Add a file's chunks, not yet to the words; give the first id that they may have."""
        cursor = self._connection.execute(
            "INSERT INTO file (path, size, mtime_ns, day, is_memory, is_log)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (file.path, file.size, file.mtime_ns, file.day, file.is_memory, file.is_log),
        )
        span = _span_of(cursor.lastrowid or 0)
        self._connection.executemany(
            "INSERT INTO chunk VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _rows_of(text, span[0])
        )
        return span[0]


def _connect(path: Path | None) -> sqlite3.Connection:
    """Connect to an index of this version, begun anew where there is none.

    Raises:
        sqlite3.DatabaseError: what is there is no such index.
    """
    if path is not None:
        make_private_file(path)
    connection = sqlite3.connect(
        ":memory:" if path is None else path,
        timeout=_WAIT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        # A crash of the machine may take the last change: the files tell it again.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        names = ("application_id", "user_version")
        found = [cast(tuple[int], connection.execute(f"PRAGMA {n}").fetchone())[0] for n in names]
        if connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
            connection.executescript(
                f"BEGIN IMMEDIATE; {_TABLES} PRAGMA application_id = {_APPLICATION};"
                f" PRAGMA user_version = {_VERSION}; COMMIT;"
            )
        elif found != [_APPLICATION, _VERSION]:
            raise sqlite3.DatabaseError("an index of another kind")
    except BaseException:
        connection.close()
        raise
    return connection


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        remove_quietly(path.with_name(path.name + suffix))


def _span_of(file_id: int) -> tuple[int, int]:
    """Give the ids that the chunks of a file may have: from the first to before the second."""
    return file_id << MAX_PER_FILE_BITS, (file_id + 1) << MAX_PER_FILE_BITS


def _rows_of(text: str, first_id: ChunkId) -> Iterator[_ChunkRow]:
    """Give the rows of a text's chunks: headings count as its words, neighbors stand apart."""
    chunks = read_chunks(text)[: 1 << MAX_PER_FILE_BITS]
    words = [read_words(chunk.text) for chunk in chunks]
    of_heading = {heading: read_words(heading) for heading in {chunk.heading for chunk in chunks}}
    for at, chunk in enumerate(chunks):
        before = chain.from_iterable(words[max(0, at - N_NEIGHBORS) : at])
        behind = chain.from_iterable(words[at + 1 : at + 1 + N_NEIGHBORS])
        near = (*deque(before, MAX_NEAR_WORDS), *islice(behind, MAX_NEAR_WORDS))
        yield (
            first_id + at,
            chunk.first_line,
            chunk.last_line,
            chunk.heading,
            chunk.text,
            chunk_digest(chunk.text),
            f" {' '.join(words[at] + of_heading[chunk.heading])} ",
            f" {' '.join(dict.fromkeys(near))} ",
        )
