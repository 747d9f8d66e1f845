"""The outline of a transcript, its lines matched with its context; made longer as it grows."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import takewhile

import msgspec

from ullage.app.checkpoint.find import Found
from ullage.app.sessions.load import Loaded
from ullage.core.documents.in_context import Standing, stand
from ullage.core.documents.outline import (
    EMPTY_OUTLINE,
    Outline,
    Row,
    Sketch,
    extended,
    row_at_offset,
    rows_between,
)
from ullage.core.secrets.scan import mask
from ullage.core.transcript.context import Compaction, ContextItem
from ullage.core.transcript.entries import Line, Problem
from ullage.core.transcript.message import ToolCall, ToolResult
from ullage.core.transcript.token_estimate import estimate_tokens
from ullage.core.transcript.tokens import count_message
from ullage.formats.sketches import SKETCHES
from ullage.store.transcript.reader import FileLines, Mark, mark_at, read_appended

MAX_ESTIMATED_CHARS = 4_000
"""Of a longer text the beginning is estimated, and the rest by its length (chosen)."""
MAX_LINES_BACK = 50
"""How far before a result its call is looked for (chosen): parallel calls stand that near."""


class Outlined(msgspec.Struct, frozen=True, kw_only=True):
    """A session and the lines of its file."""

    loaded: Loaded
    lines: FileLines
    whole: Outline
    """What the finished lines alone say."""
    outline: Outline
    standing: Standing
    mark: Mark


class EntryTokens(msgspec.Struct, frozen=True):
    n_tokens: int
    is_estimated: bool


class PlacedCompaction(msgspec.Struct, frozen=True, kw_only=True):
    """A compaction on the path, and its line."""

    row: Row
    compaction: Compaction
    n_before: int
    """Compactions before it."""
    is_last: bool


def outline_of(loaded: Loaded, before: Outlined | None) -> Outlined | None:
    """Read the lines of a session's file, or those that are new; None where it has no lines.

    Takes some 4 ms for each megabyte that is new (`benchmarks/editor.py`).

    Raises:
        Unreadable, NotATranscript: the file is not what it was.
    """
    lines = loaded.session.lines
    if not isinstance(lines, FileLines) or loaded.session.header.known_agent not in SKETCHES:
        return None
    appended = None if before is None else read_appended(lines.path, before.mark)
    if before is None or appended is None:
        last = next(lines.backward())
        unfinished = last if last.is_torn else None
        whole, finished = EMPTY_OUTLINE, takewhile(lambda line: not line.is_torn, lines.forward())
        mark = mark_at(lines, last.offset if last.is_torn else lines.size_bytes)
    else:
        whole, finished = before.whole, appended.lines
        unfinished, mark, lines = appended.unfinished, appended.mark, appended.source
    add = partial(_added, loaded)
    whole = add(whole, finished)
    outline = whole if unfinished is None else add(whole, (unfinished,))
    return Outlined(
        loaded=loaded,
        lines=lines,
        whole=whole,
        outline=outline,
        standing=stand(outline, loaded.context, loaded.status.gauge),
        mark=mark,
    )


def items_of(found: Outlined, row: Row) -> tuple[ContextItem, ...]:
    """Give the messages of a line: as the context has them, else as the line says.

    Raises:
        Unreadable: the file is not as long as it was.
    """
    live = found.standing.live.get(row.entry_id) if row.entry_id else None
    if live is not None:
        return live.items
    sketch = _sketch(found.loaded, found.lines.read_line(row.offset, row.size_bytes))
    return (sketch.item,) if isinstance(sketch, Sketch) and sketch.item else ()


def answered_calls(found: Outlined, row: Row) -> tuple[str, ...]:
    """Name the calls that the results of a line answer, masked; they stand not far before it."""
    results = [
        block
        for item in items_of(found, row)
        for block in item.message.blocks
        if isinstance(block, ToolResult)
    ]
    titles: dict[str, str] = {}
    before = rows_between(found.outline, max(row.line - MAX_LINES_BACK, 0), row.line - 1)
    for one in reversed(before):
        if all(result.call_id in titles for result in results):
            break
        if one.calls:
            titles = dict(zip(_call_ids(found, one), one.calls, strict=False)) | titles
    known = (titles.get(result.call_id, result.name) for result in results)
    return tuple(title for title in known if title)


def _call_ids(found: Outlined, row: Row) -> Iterator[str]:
    for item in items_of(found, row):
        for block in item.message.blocks:
            if isinstance(block, ToolCall):
                yield block.call_id


def lines_of(found: Outlined) -> dict[str, int]:
    """Give the line of each entry, as editors count from 0, by its id."""
    return {row.entry_id: row.line for row in found.outline.rows if row.entry_id}


def counted_tokens(found: Outlined, items: Iterable[ContextItem]) -> int:
    """Count messages with the session's tokenizer."""
    return sum(count_message(item.message, found.loaded.count) for item in items)


def known_tokens(found: Outlined, items: Iterable[ContextItem]) -> EntryTokens:
    """Give the tokens of messages without counting: as counted before, else estimated."""
    is_estimated = False

    def count(text: str) -> int:
        nonlocal is_estimated
        n_tokens = found.loaded.count.known(text)
        if n_tokens is not None:
            return n_tokens
        is_estimated = True
        head = text[:MAX_ESTIMATED_CHARS]
        return estimate_tokens(head) * len(text) // len(head)

    n_tokens = sum(count_message(item.message, count) for item in items)
    return EntryTokens(n_tokens, is_estimated)


def placed_compactions(found: Outlined) -> tuple[PlacedCompaction, ...]:
    """Read the compactions on the path, oldest first, with their lines."""
    session, refs = found.loaded.session, found.loaded.context.compactions
    placed: list[PlacedCompaction] = []
    for n_before, ref in enumerate(refs):
        row = row_at_offset(found.outline, ref.offset)
        compaction = session.format.read_compaction(found.lines, ref)
        if row is not None and compaction is not None:
            is_last = ref is refs[-1] and found.loaded.context.boundary is not None
            placed.append(
                PlacedCompaction(row=row, compaction=compaction, n_before=n_before, is_last=is_last)
            )
    return tuple(placed)


def checkpoint_before(placed: PlacedCompaction, newest_first: Iterable[Found]) -> Found | None:
    """Find the last checkpoint that was written before a compaction."""
    counts = (found for found in newest_first if _n_compactions(found) == placed.n_before)
    return next(counts, None)


def _n_compactions(found: Found) -> int:
    return found.checkpoint.meta.compaction_count


def _added(loaded: Loaded, outline: Outline, lines: Iterable[Line]) -> Outline:
    known = loaded.known_secrets
    return extended(outline, lines, partial(_sketch, loaded), lambda text: mask(text, known))


def _sketch(loaded: Loaded, line: Line) -> Sketch | Problem | None:
    header = loaded.session.header
    return SKETCHES[header.known_agent](line, header)
