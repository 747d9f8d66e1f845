"""What is known of a workspace's memory besides its Markdown: the events of its journal.

Digests alone: neither queries nor texts of memory stand in it.
"""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Literal, TypeAlias

import msgspec

from ullage.core.memory.origin import KnownOrigins, Origin, is_more_trusted

Asker: TypeAlias = Literal["user", "agent", "ullage"]
"""Who searched; our own passes are told apart, as they say nothing of what is worth keeping."""
Kind: TypeAlias = Literal["fact", "decision", "preference", "command", "dead-end"]
"""What a stored item is: docs/design/memory.md, "Memory tools"."""
KEPT_DAYS = (90, 30, 7, 0)
"""How long recalls stay single: the first of these by which a journal is small enough (chosen)."""
MAX_COUNTS = 20_000
"""Chunks and askers whose recalls are counted, the newest (chosen: 4 MB)."""
SMALL_BYTES = 2 * 1024 * 1024
"""A smaller journal is not folded (chosen: it is read in 10 ms)."""
_HIT_BYTES = 80


class Recall(msgspec.Struct, frozen=True, kw_only=True, tag="recall", gc=False):
    """A search, and what it handed out."""

    day: str
    """`YYYY-MM-DD`, local."""
    by: Asker
    query: str
    """As `hash_query` gives it."""
    hits: tuple[tuple[str, float], ...]
    """Digest of the chunk's text, and score, 0 to 1."""


class RecallCount(msgspec.Struct, frozen=True, kw_only=True, tag="recalls", gc=False):
    """Recalls of one chunk by one asker, added up."""

    chunk: str
    by: Asker
    n_recalls: int
    n_queries: int
    """Different ones."""
    n_days: int
    first_day: str
    last_day: str
    total_score: float


class LinesWritten(msgspec.Struct, frozen=True, kw_only=True, tag="lines", gc=False):
    """Lines that came into memory in a way that tells where they come from."""

    origin: Origin
    session: str
    at: str
    """RFC 3339."""
    lines: tuple[str, ...]
    """Digests: `core.memory.origin.digest_line`."""


class FileSeen(msgspec.Struct, frozen=True, kw_only=True, tag="seen", gc=False):
    """The content of a memory file that counts as seen."""

    path: str
    """Relative to the workspace, with `/`."""
    sha256: str
    at: str
    how: Literal["first", "accepted"]


class Begun(msgspec.Struct, frozen=True, kw_only=True, tag="begun", gc=False):
    """What the folder held by then counts as seen."""

    at: str


class Stored(msgspec.Struct, frozen=True, kw_only=True, tag="stored", gc=False):
    """An item that somebody had stored."""

    kind: Kind
    by: Literal["user", "agent"]
    path: str
    line: str
    """Its digest."""
    session: str
    at: str


Event: TypeAlias = Recall | RecallCount | LinesWritten | FileSeen | Begun | Stored


class Journal(msgspec.Struct, frozen=True, kw_only=True):
    """A journal, read."""

    events: tuple[Event, ...] = ()
    n_damaged: int = 0
    size_bytes: int = 0
    """Up to the end of the last whole line."""
    problem: str | None = None
    """What is wrong with the file, and what to do, in words for the user."""

    @property
    def is_begun(self) -> bool:
        return any(isinstance(event, Begun) for event in self.events)

    def read_origins(self) -> KnownOrigins:
        """Give the origin of each line that is known: the most trusted that it ever came from."""
        return add_origins(KnownOrigins(lines={}, is_begun=False), self.events)

    def list_recalls(self) -> tuple[Recall | RecallCount, ...]:
        return tuple(event for event in self.events if isinstance(event, Recall | RecallCount))

    def read_seen(self) -> dict[str, FileSeen]:
        """Give what counts as seen, the newest of each path."""
        return {event.path: event for event in self.events if isinstance(event, FileSeen)}


def add_origins(known: KnownOrigins, events: Iterable[Event]) -> KnownOrigins:
    """Learn from what was added to a journal; the dict of `known` is added to."""
    lines, is_begun = known.lines, known.is_begun
    for event in events:
        if isinstance(event, LinesWritten):
            _add_origins(lines, event)
        is_begun = is_begun or isinstance(event, Begun)
    return KnownOrigins(lines=lines, is_begun=is_begun)


def hash_query(query: str) -> str:
    """Tell queries apart without keeping them."""
    words = " ".join(query.casefold().split())
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def count_recalls(recalls: Iterable[Recall | RecallCount]) -> tuple[RecallCount, ...]:
    """Add up recalls by chunk and asker; queries of counted ones are taken for others."""
    counts: dict[tuple[str, Asker], RecallCount] = {}
    queries: dict[tuple[str, Asker], set[str]] = {}
    days: dict[tuple[str, Asker], set[str]] = {}
    for recall in recalls:
        for count in _counts_of(recall):
            key = count.chunk, count.by
            if isinstance(recall, Recall):
                queries.setdefault(key, set()).add(recall.query)
                days.setdefault(key, set()).add(recall.day)
            before = counts.get(key)
            counts[key] = count if before is None else _add_counts(before, count)
    return tuple(
        msgspec.structs.replace(
            count,
            n_queries=count.n_queries + len(queries.get(key, ())),
            n_days=count.n_days + len(days.get(key, ())),
        )
        for key, count in counts.items()
    )


def fold_events(events: Iterable[Event], today: date) -> tuple[Event, ...]:
    """Make a journal smaller: old recalls are counted, what a later event replaces goes.

    Where that is not enough, younger recalls are counted too.
    """
    events = tuple(events)
    rest = tuple(_fold_others(events))
    recalls = tuple(event for event in events if isinstance(event, Recall | RecallCount))
    folded: tuple[Event, ...] = ()
    for n_days in KEPT_DAYS:
        since = (today - timedelta(days=n_days)).isoformat()
        new = [each for each in recalls if isinstance(each, Recall) and each.day >= since]
        old = [each for each in recalls if not (isinstance(each, Recall) and each.day >= since)]
        counts = sorted(count_recalls(old), key=lambda count: count.last_day)[-MAX_COUNTS:]
        folded = (*rest, *counts, *new)
        n_hits = sum(len(recall.hits) for recall in new)
        if (n_hits + len(new) + len(counts)) * _HIT_BYTES < SMALL_BYTES:
            break
    return folded


def _counts_of(recall: Recall | RecallCount) -> Iterator[RecallCount]:
    if isinstance(recall, RecallCount):
        yield recall
        return
    for chunk, score in recall.hits:
        yield RecallCount(
            chunk=chunk,
            by=recall.by,
            n_recalls=1,
            n_queries=0,
            n_days=0,
            first_day=recall.day,
            last_day=recall.day,
            total_score=score,
        )


def _add_counts(first: RecallCount, second: RecallCount) -> RecallCount:
    return RecallCount(
        chunk=first.chunk,
        by=first.by,
        n_recalls=first.n_recalls + second.n_recalls,
        n_queries=first.n_queries + second.n_queries,
        n_days=first.n_days + second.n_days,
        first_day=min(first.first_day, second.first_day),
        last_day=max(first.last_day, second.last_day),
        total_score=first.total_score + second.total_score,
    )


def _fold_others(events: Iterable[Event]) -> Iterator[Event]:
    """Give all but recalls, each line once with its best origin, each file as seen last."""
    origins: dict[str, Origin] = {}
    written: list[LinesWritten] = []
    kept: dict[str, Event] = {}
    for event in events:
        match event:
            case LinesWritten():
                _add_origins(origins, event)
                written.append(event)
            case FileSeen():
                kept[f"seen {event.path}"] = event
            case Begun():
                kept.setdefault("begun", event)
            case Stored():
                kept[f"stored {event.line} {event.path}"] = event
            case Recall() | RecallCount():
                pass
    yield from kept.values()
    for event in written:
        lines = tuple(line for line in event.lines if origins.get(line) == event.origin)
        for line in lines:
            origins.pop(line, None)
        if lines:
            yield msgspec.structs.replace(event, lines=lines)


def _add_origins(origins: dict[str, Origin], event: LinesWritten) -> None:
    if not origins:  # all that was there at first sight is mostly all that there is
        origins.update(dict.fromkeys(event.lines, event.origin))
        return
    for line in event.lines:
        before = origins.get(line)
        if before is None or is_more_trusted(event.origin, before):
            origins[line] = event.origin
