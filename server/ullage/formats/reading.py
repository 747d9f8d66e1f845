"""Readings of a transcript: made on a walk through its lines, and made longer as it grows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

import msgspec

from ullage.core.transcript import entries
from ullage.core.transcript.context import Category, Context, ContextItem
from ullage.core.transcript.lineage import CompactionRef, Index
from ullage.formats.json_line import int_of, iso_ms, ms_of

StubT = TypeVar("StubT")
StructT = TypeVar("StructT", bound=msgspec.Struct)


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A context and what was learned of the transcript on the way."""

    context: Context
    index: Index
    ends_in_note: bool = False
    """Whether it ends in a record that tells something of the message after it."""

    @property
    def shows_unfinished(self) -> bool:
        """Whether an unfinished line is part of it; it must be read again to take it out."""
        return self.context.n_entries != self.index.n_entries


class Walk(Generic[StubT]):
    """Lines one after the other as `read` gives them: entries, problems, or None to pass over."""

    def __init__(
        self,
        lines: Iterable[entries.Line],
        read: Callable[[entries.Line], StubT | entries.Problem | None],
        counted_from: int = 0,
        *,
        is_title: Callable[[StubT], bool] | None = None,
    ) -> None:
        self.title_offset = 0
        """Where the last of those stands that may name the session; 0 for none."""
        self.n_entries = 0
        """Those from the offset `counted_from` on."""
        self.problems: list[entries.Problem] = []
        self.is_complete = False
        """Set by the caller: nothing before `counted_from` is needed any more."""
        self._lines = lines
        self._read = read
        self._counted_from = counted_from
        self._is_title = is_title

    def __iter__(self) -> Iterator[tuple[entries.Line, StubT]]:
        for line in self._lines:
            is_counted = line.offset >= self._counted_from
            if self.is_complete and not is_counted:
                return
            stub = self._read(line)
            if isinstance(stub, entries.Problem):
                self.problems.append(stub)
            elif stub is not None:
                self.n_entries += is_counted
                if self._is_title is not None and self._is_title(stub):
                    self.title_offset = max(self.title_offset, line.offset)
                yield line, stub

    def title_after(self, index: Index) -> int | None:
        """Give where the last title stands, once all was passed that an index does not cover."""
        if index.covered_bytes and index.title_offset is None:
            return None
        return max(self.title_offset, index.title_offset or 0)


class CompactionsUpwards:
    """Compactions as a walk from the end meets them, up to one that an index knows."""

    def __init__(self, index: Index) -> None:
        self.refs: list[CompactionRef] = []
        """Those that the index does not know, the last one first."""
        self.is_complete = False
        self._known_ids = {ref.entry_id for ref in index.compactions}

    def add(self, line: entries.Line, entry_id: str | None, timestamp: str | None) -> None:
        """Make a compaction the predecessor of the one below it."""
        if self.is_complete:
            return
        self.is_complete = entry_id in self._known_ids
        if self.refs:
            self.refs[-1] = msgspec.structs.replace(self.refs[-1], previous_id=entry_id)
        if not self.is_complete:
            ref = CompactionRef(
                entry_id=entry_id or "",
                at_ms=iso_ms(timestamp),
                offset=line.offset,
                size_bytes=len(line.raw),
            )
            self.refs.append(ref)


def extend_reading(
    reading: Reading,
    context: Context,
    walk: Walk[StubT],
    lines: Sequence[entries.Line],
    size_bytes: int,
) -> Reading:
    """Make the reading that ends with appended lines.

    `context` has what the walk through them added to that of `reading`.
    """
    n_entries = reading.index.n_entries + walk.n_entries
    covered_bytes = reading.index.covered_bytes
    # The problem of an unfinished line goes with its end.
    lasting = (problem for problem in context.problems if problem.offset < covered_bytes)
    return Reading(
        context=msgspec.structs.replace(
            context,
            n_entries=n_entries,
            size_bytes=size_bytes,
            problems=(*lasting, *walk.problems),
        ),
        index=msgspec.structs.replace(
            reading.index,
            covered_bytes=lines[-1].offset + len(lines[-1].raw) if lines else size_bytes,
            n_entries=n_entries,
            title_offset=walk.title_after(reading.index),
        ),
    )


def index_of(
    lines: entries.Lines,
    n_entries: int,
    refs: Iterable[CompactionRef],
    read: Callable[[entries.Line], object | entries.Problem | None],
    title_offset: int | None = None,
) -> Index:
    """Make the index of what was read; a last line that is not finished is left out of it."""
    last = next(lines.backward(), None)
    if last is None or not last.is_torn:
        return Index(
            covered_bytes=lines.size_bytes,
            n_entries=n_entries,
            compactions=tuple(refs),
            title_offset=title_offset,
        )
    is_title = title_offset is not None and title_offset >= last.offset
    return Index(
        covered_bytes=last.offset,
        n_entries=n_entries - (not isinstance(read(last), entries.Problem | None)),
        compactions=tuple(ref for ref in refs if ref.offset < last.offset),
        title_offset=None if is_title else title_offset,
    )


def index_again(lines: entries.Lines, context: Context) -> Index:
    """Give the index by which the lines that a context was made from are read as they were."""
    return Index(
        covered_bytes=lines.size_bytes,
        n_entries=context.n_entries,
        compactions=context.compactions,
    )


def make_item(
    entry: entries.Entry,
    message: entries.Message,
    category: Category,
    native: entries.JsonObject,
    *,
    is_after_boundary: bool = True,
) -> ContextItem:
    """Make the item of an entry that sends one message."""
    return ContextItem(
        entry_id=entry.entry_id,
        message=message,
        category=category,
        native=native,
        at_ms=ms_of(entry.native),
        is_after_boundary=is_after_boundary,
    )


def make_entry(
    line: entries.Line,
    native: entries.JsonObject,
    *,
    entry_id: str | None,
    kind: str,
    parent_id: str | None = None,
) -> entries.Entry:
    """Make the entry that a line is."""
    return entries.Entry(
        entry_id=entry_id or "",
        parent_id=parent_id,
        kind=kind,
        offset=line.offset,
        size_bytes=len(line.raw),
        native=native,
    )


def make_usage(
    n_input: int,
    n_output: int,
    n_cache_read: int,
    n_cache_write: int,
    n_total: int | None = None,
    *,
    n_hour_write: int = 0,
) -> entries.Usage | None:
    """Make the usage of these counts, whose sum is the total unless it is given; None for zeros."""
    if n_total is None:
        n_total = n_input + n_output + n_cache_read + n_cache_write
    if n_total <= 0:
        return None
    return entries.Usage(
        n_input=n_input,
        n_output=n_output,
        n_cache_read=n_cache_read,
        n_cache_write=n_cache_write,
        n_total=n_total,
        n_hour_write=min(n_hour_write, n_cache_write),
    )


def counts_in(usage: entries.JsonObject, keys: Iterable[str]) -> Iterator[int]:
    """Read numbers of tokens; 0 where none stands."""
    return (int_of(usage, key) or 0 for key in keys)


def read_stub_fields(native: entries.JsonObject, shape: type[StructT]) -> StructT:
    """Make a stub of an object that its decoder refuses, without the fields of another type."""
    fields: entries.JsonObject = {}
    for key, value in native.items():
        # A lone surrogate ends in the other one: the refusal would quote it.
        with suppress(msgspec.ValidationError, UnicodeError):
            msgspec.convert({key: value}, shape)
            fields[key] = value
    return msgspec.convert(fields, shape)


def calls_in(message: entries.Message) -> dict[str, str]:
    """Give the tool behind the id of each call in a message."""
    blocks = message.blocks
    return {block.call_id: block.name for block in blocks if isinstance(block, entries.ToolCall)}
