"""What memory handed out: today, of one chunk, and what a person chose among answers."""

from collections import Counter
from collections.abc import Mapping, Set
from datetime import date
from pathlib import Path

import msgspec

from ullage.app.memory.open_memory import OpenMemory
from ullage.core.memory.chunks import Chunk, chunk_digest, read_chunks
from ullage.core.memory.journal import (
    Asker,
    Journal,
    LinesWritten,
    Recall,
    count_recalls,
    hash_query,
)
from ullage.core.memory.origin import Origin, list_line_digests
from ullage.core.memory.quoted import quote_memory
from ullage.store.files.places import Places
from ullage.store.memory.index import IndexedChunk, MemoryIndex
from ullage.store.memory.journal import read_journal, record_recall
from ullage.store.memory.pages import read_page

MAX_RECALLED = 50
"""Chunks that are listed of a day, the latest (chosen: what fits on a screen)."""


class RecalledChunk(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk that was handed out on a day, where it stands now."""

    path: str
    """Relative to the workspace, with `/`."""
    first_line: int
    last_line: int
    heading: str
    text: str
    """Quoted data, as `heading`."""
    origin: Origin
    n_by_user: int
    n_by_agent: int


class LineHistory(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a line of memory, and of the chunk that it is in."""

    origin: Origin
    written_at: str | None
    """RFC 3339; None where nobody noted it."""
    n_by_user: int
    n_by_agent: int
    last_day: str | None
    """Of the last recall by a person or an agent."""


def count_recalls_on(day: date, workspace: Path, places: Places) -> dict[str, Counter[Asker]]:
    """Count what persons and agents were handed out on a day, by digests of chunks, latest first.

    Ullage's own searches are left out. The journal alone is read: no index is built.
    """
    counts: dict[str, Counter[Asker]] = {}
    for recall in reversed(read_journal(workspace, places).list_recalls()):
        if isinstance(recall, Recall) and recall.day == day.isoformat() and recall.by != "ullage":
            for digest, _ in recall.hits:
                counts.setdefault(digest, Counter())[recall.by] += 1
    return counts


def find_recalled(
    memory: OpenMemory, counts: Mapping[str, Counter[Asker]]
) -> tuple[RecalledChunk, ...]:
    """Find where chunks stand that were handed out, in the order of `counts`.

    What was changed since is another chunk. Where a text stands twice, the first place is given.

    Raises:
        StorageError: the state folder does not take the index.
    """

    def find(index: MemoryIndex) -> dict[str, IndexedChunk]:
        chunks = index.read_chunks(tuple(index.find_digests(counts))).values()
        return {chunk.digest: chunk for chunk in reversed(chunks)}

    chunks = memory.read(find)
    found = [(chunks[digest], count) for digest, count in counts.items() if digest in chunks]
    return tuple(
        RecalledChunk(
            path=chunk.path,
            first_line=chunk.first_line,
            last_line=chunk.last_line,
            heading=quote_memory(chunk.heading, memory.secrets),
            text=quote_memory(chunk.text, memory.secrets),
            origin=memory.tell_origin(chunk),
            n_by_user=count["user"],
            n_by_agent=count["agent"],
        )
        for chunk, count in found[:MAX_RECALLED]
    )


def read_line_history(
    path: str, text: str, line: int, workspace: Path, places: Places
) -> LineHistory | None:
    """Tell where a line of a memory file comes from and how often its chunk was handed out.

    `text` is the file as it is shown, `line` counts from 1; None for a line that says nothing.
    """
    chunk = _find_chunk(text, line)
    content = "".join(text.replace("\r\n", "\n").split("\n")[line - 1 : line])
    digests = set(list_line_digests(content))
    if chunk is None or not digests:
        return None
    journal = read_journal(workspace, places)
    origin = journal.read_origins().tell(path, content)
    n_by_user, n_by_agent, last_day = _count_by(journal, chunk_digest(chunk.text))
    return LineHistory(
        origin=origin,
        written_at=_find_time(journal, digests, origin),
        n_by_user=n_by_user,
        n_by_agent=n_by_agent,
        last_day=last_day,
    )


def record_chosen(
    path: str, line: int, query: str, workspace: Path, places: Places, today: date
) -> bool:
    """Note that a person chose what stands at a line among the answers to a question.

    Raises:
        StorageError: the state folder does not take it.
    """
    chunk = _find_chunk(read_page(workspace, path) or "", line)
    if chunk is None or not places.keeps_caches:
        return False
    hits = ((chunk_digest(chunk.text), 1.0),)
    recall = Recall(day=today.isoformat(), by="user", query=hash_query(query), hits=hits)
    record_recall(recall, workspace, places)
    return True


def _find_chunk(text: str, line: int) -> Chunk | None:
    chunks = (
        chunk
        for chunk in read_chunks(text.replace("\r\n", "\n"))
        if chunk.first_line <= line <= chunk.last_line
    )
    return next(chunks, None)


def _count_by(journal: Journal, digest: str) -> tuple[int, int, str | None]:
    """Count the recalls of a chunk by persons and by agents, and give the last day."""
    counts = [
        count
        for count in count_recalls(journal.list_recalls())
        if count.chunk == digest and count.by != "ullage"
    ]
    by_user = sum(count.n_recalls for count in counts if count.by == "user")
    by_agent = sum(count.n_recalls for count in counts if count.by == "agent")
    return by_user, by_agent, max((count.last_day for count in counts), default=None)


def _find_time(journal: Journal, digests: Set[str], origin: Origin) -> str | None:
    """Tell when a line first came from where it comes from."""
    times = (
        event.at
        for event in journal.events
        if isinstance(event, LinesWritten)
        and event.origin == origin
        and not digests.isdisjoint(event.lines)
    )
    return next(times, None)
