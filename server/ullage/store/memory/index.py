"""The index of a workspace's memory: one SQLite file that can be thrown away at any time.

Each change is one transaction with a log of writes ahead: readers see the index as it was until
the change is whole, and so does whoever comes after a process that was killed.
"""

import json
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias, TypeVar

import msgspec

from ullage.core.memory.chunks import chunk_digest, read_chunks
from ullage.core.memory.ranking import MAX_PER_FILE_BITS, Candidate, ChunkId, Posting
from ullage.core.memory.words import read_words
from ullage.store.memory.index_file import (
    SQLITE_ERRORS,
    explain_error,
    open_index_file,
    say_damaged,
)

N_NEIGHBORS = 2
MAX_NEAR_WORDS = 70
"""Chunks before and after that are the surroundings of one, as far as these words of each side
reach (docs/design/memory.md, "Search").
"""
_CACHED_WORDS = 4_096
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
_Ids: TypeAlias = list[tuple[int]]
_Texts: TypeAlias = list[tuple[str]]
_Digests: TypeAlias = list[tuple[int, str]]
_Rows = TypeVar("_Rows")


class SourceFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is to be in the index, as a look at its folder tells."""

    path: str
    """Relative to the workspace, with `/`."""
    size: int
    changed_ns: int
    """When it was changed, or -1 where that is so short ago that it may change again unseen."""
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
        self._postings: dict[str, Posting] = {}
        self._counts: dict[str, int] = {}
        self._version = -1
        self._connection, self.was_rebuilt = open_index_file(path)
        """Whether there was an index that had to be thrown away."""

    def close(self) -> None:
        self._connection.close()

    def throw_away(self) -> None:
        """Begin anew, without anything.

        Raises:
            StorageError: the state folder does not take it.
        """
        self.close()
        self._forget()
        self._connection, _ = open_index_file(self.path, is_anew=True)

    @contextmanager
    def reading(self) -> Generator[None]:
        """Hold the index as it is: what another process changes meanwhile is not seen.

        Raises:
            StorageError: the disk does not give it; as for all that reads.
            IndexDamaged: it holds what was never written so; as for all that reads.
        """
        try:
            self._connection.execute("BEGIN")
            yield
        except SQLITE_ERRORS as error:
            raise explain_error(error, self.path) from None
        finally:
            self._roll_back()

    def update(self, changed: Iterable[tuple[SourceFile, str]], gone: Iterable[str]) -> None:
        """Take in changed files with their texts, and drop those that are gone.

        Readers go on with what was there until it is done.

        Raises:
            StateBusy: another Ullage is writing to the index.
            StorageError: the disk does not take it.
            IndexDamaged: it has to be thrown away.
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
        ((n_chunks, n_chars),) = self._read(
            "SELECT n_chunks, n_chars FROM size", (), tuple[tuple[int, int]]
        )
        return IndexSize(n_chunks=n_chunks, mean_chars=n_chars / n_chunks if n_chunks else 1.0)

    def list_files(self) -> dict[str, tuple[int, int]]:
        """Give size and `changed_ns` of each indexed file by its path."""
        rows = self._read("SELECT path, size, changed_ns FROM file", (), list[tuple[str, int, int]])
        return {path: (size, changed_ns) for path, size, changed_ns in rows}

    def find_files(self, *, is_memory: bool | None, since: str) -> frozenset[int]:
        """Find the ids of files that are memory or not, or either, and not older than a day."""
        rows = self._read(
            "SELECT id FROM file WHERE day >= ? AND is_memory IN (?, ?)",
            (since, is_memory is not False, is_memory is True),
            _Ids,
        )
        return frozenset(map(_FIRST, rows))

    def count_chunks(self, words: Iterable[str]) -> dict[str, int]:
        """Tell how many chunks hold each word, in their text or their surroundings."""
        ((version,),) = self._read("PRAGMA data_version", (), _Ids)
        if version != self._version:
            # Another process changed the index.
            self._version = version
            self._forget()
        counts: dict[str, int] = {}
        for word in words:
            count = self._counts.get(word)
            if count is None:
                rows = self._read("SELECT doc FROM word WHERE term = ?", (word,), _Ids)
                count = self._counts[word] = rows[0][0] if rows else 0
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
        rows = self._read(_CANDIDATES, (str(list(chunk_ids)),), list[tuple[int, str, str]])
        for chunk_id, words, context in rows:
            yield Candidate(chunk_id=chunk_id, words=words, context=context)

    def read_chunks(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, IndexedChunk]:
        values = (MAX_PER_FILE_BITS, str(list(chunk_ids)))
        rows = self._read(_CHUNKS, values, list[_FoundRow])
        chunks: dict[ChunkId, IndexedChunk] = {}
        for (
            chunk_id, path, first_line, last_line, heading, text, day, is_memory, is_log, digest
        ) in rows:  # fmt: skip
            if chunk_digest(text) != digest:
                raise say_damaged(self.path)
            chunks[chunk_id] = IndexedChunk(
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
        return chunks

    def list_digests(self) -> dict[ChunkId, str]:
        """Give the digest of each chunk's text, in the order of files and lines."""
        sql = "SELECT id, digest FROM chunk INDEXED BY chunk_digest"
        return dict(sorted(self._read(sql, (), _Digests)))

    def newest_digests(self, limit: int) -> dict[ChunkId, str]:
        """Give the digests of the chunks of the files that were indexed last."""
        sql = "SELECT id, digest FROM chunk ORDER BY id DESC LIMIT ?"
        return dict(self._read(sql, (limit,), _Digests))

    def find_digests(self, digests: Iterable[str]) -> dict[ChunkId, str]:
        """Find the chunks that have one of some texts."""
        return dict(self._read(_BY_DIGEST, (json.dumps(list(digests)),), _Digests))

    def _read(self, sql: str, values: tuple[str | int, ...], rows: type[_Rows]) -> _Rows:
        """Ask for rows of a type; what has another type was never written so."""
        try:
            return msgspec.convert(self._connection.execute(sql, values).fetchall(), rows)
        except SQLITE_ERRORS as error:
            raise explain_error(error, self.path) from None
        except msgspec.ValidationError:
            raise say_damaged(self.path) from None

    @contextmanager
    def _writing(self) -> Generator[None]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except SQLITE_ERRORS as error:
            raise explain_error(error, self.path) from None
        finally:
            self._roll_back()
            self._forget()

    def _roll_back(self) -> None:
        with suppress(*SQLITE_ERRORS):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _forget(self) -> None:
        self._postings.clear()
        self._counts.clear()

    def _match(self, column: str, word: str) -> tuple[ChunkId, ...]:
        quoted = word.replace('"', '""')
        # One text of all ids takes half as long as a row for each.
        sql = "SELECT json_group_array(rowid) FROM fts WHERE fts MATCH ?"
        ((ids,),) = self._read(sql, (f'{column}:"{quoted}"',), _Texts)
        return msgspec.json.decode(ids, type=tuple[ChunkId, ...])

    def _drop(self, path: str) -> None:
        rows = self._read("SELECT id FROM file WHERE path = ?", (path,), _Ids)
        if not rows:
            return
        ((file_id,),) = rows
        span = _span_of(file_id)
        self._connection.execute(_DROP, span)
        self._connection.execute(_COUNT, (-1, -1, *span))
        self._connection.execute("DELETE FROM chunk WHERE id >= ? AND id < ?", span)
        self._connection.execute("DELETE FROM file WHERE id = ?", (file_id,))

    def _add(self, file: SourceFile, text: str) -> ChunkId:
        """Add a file's chunks, not yet to the words; give the first id that they may have."""
        cursor = self._connection.execute(
            "INSERT INTO file (path, size, changed_ns, day, is_memory, is_log)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (file.path, file.size, file.changed_ns, file.day, file.is_memory, file.is_log),
        )
        span = _span_of(cursor.lastrowid or 0)
        self._connection.executemany(
            "INSERT INTO chunk VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _rows_of(text, span[0])
        )
        return span[0]


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
