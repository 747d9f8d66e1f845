"""How full a session's window was over time, also before its compactions."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

import msgspec

from ullage.app.sessions.load import Loaded
from ullage.app.sessions.session import Session
from ullage.core.gauge.history import (
    Mark,
    Point,
    Stretch,
    WindowHistory,
    compaction_mark,
    stretch,
    thinned,
)
from ullage.core.transcript.context import Compaction, Context
from ullage.core.transcript.entries import Lines, MemoryLines
from ullage.core.transcript.index import CompactionRef, Index
from ullage.store.transcript.reader import FileLines, FirstLines


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """A compaction, and what was reported in the context that it ended."""

    compaction: Compaction
    before: Stretch


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's compactions ended: it stays as it is, however the session goes on."""

    session_id: str
    ended: Mapping[CompactionRef, Ended]
    """In their order, by where each compaction stands."""


def read_past(loaded: Loaded, before: Past | None) -> Past:
    """Read every context that a compaction ended, each once; what was read `before` is taken.

    Takes some 15 ms for each megabyte that is new (`benchmarks/editor.py`).
    """
    session_id = loaded.session.header.session_id
    known: Mapping[CompactionRef, Ended] = {}
    if before is not None and before.session_id == session_id:
        known = before.ended
    ended: dict[CompactionRef, Ended] = {}
    seen: set[str] = set()
    for ref in loaded.context.compactions:
        one = known.get(ref) or _ended(loaded, ref, seen)
        if one is not None:
            ended[ref] = one
            seen |= _entry_ids(one.before)
    return Past(session_id=session_id, ended=ended)


def window_history(loaded: Loaded, past: Past) -> WindowHistory:
    """Put the past and the present context into one line."""
    points: list[Point] = []
    marks: list[Mark] = []
    seen: set[str] = set()
    for one in past.ended.values():
        _add(one.before, points, marks)
        marks.append(compaction_mark(one.compaction, len(points)))
        seen |= _entry_ids(one.before)
    _add(stretch(loaded.context, seen), points, marks)
    points += _now(loaded, points)
    return thinned(WindowHistory(points=tuple(points), marks=tuple(marks)))


def _add(found: Stretch, points: list[Point], marks: list[Mark]) -> None:
    if found.prune is not None:
        n_point = len(points) + found.prune.n_point
        marks.append(msgspec.structs.replace(found.prune, n_point=n_point))
    points += found.points


def _entry_ids(found: Stretch) -> set[str]:
    return {point.entry_id for point in found.points if point.entry_id is not None}


def _ended(loaded: Loaded, ref: CompactionRef, seen: AbstractSet[str]) -> Ended | None:
    session = loaded.session
    compaction = session.format.read_compaction(session.lines, ref)
    if compaction is None:
        return None
    before = _context_before(session, compaction, ref, loaded.reading.index)
    return Ended(compaction=compaction, before=stretch(before, seen))


def _context_before(
    session: Session, compaction: Compaction, ref: CompactionRef, index: Index
) -> Context:
    """Read the context that a compaction replaced: the one that ends with its parent."""
    before = _read_until(session, ref.offset, index)
    if compaction.parent_id is None or before.leaf_id == compaction.parent_id:
        return before
    # Another branch was written to in between.
    end = _end_of(session, compaction.parent_id, ref.offset)
    return before if end is None else _read_until(session, end, index)


def _read_until(session: Session, end: int, index: Index) -> Context:
    known = tuple(ref for ref in index.compactions if ref.offset + ref.size_bytes <= end)
    covered = max((ref.offset + ref.size_bytes for ref in known), default=0)
    so_far = Index(covered_bytes=covered, n_entries=0, compactions=known)
    lines = _lines_until(session, end)
    return session.format.read_context(lines, session.header, so_far).context


def _lines_until(session: Session, end: int) -> Lines:
    if isinstance(session.lines, FileLines):
        return FirstLines(session.lines, end)
    before = (line.raw for line in session.lines.forward() if line.offset < end)
    return MemoryLines(b"".join(before))


def _end_of(session: Session, entry_id: str, end: int) -> int | None:
    """Find where the line of an entry ends, before an offset."""
    needle = entry_id.encode()
    for line in _lines_until(session, end).backward():
        if needle in line.raw:
            entries = session.format.parse(line.raw).entries
            if entries and entries[0].entry_id == entry_id:
                return line.offset + len(line.raw)
    return None


def _now(loaded: Loaded, points: list[Point]) -> list[Point]:
    """Give the present gauge, where it says something that no answer reported."""
    gauge = loaded.status.gauge
    used, is_reported = gauge.used_tokens, gauge.used_source == "reported"
    if used is None or (points and gauge.n_counted == 0 and is_reported):
        return []
    context = loaded.context
    last = context.items[-1:] if context.pruned is None else (*context.items[-1:], context.pruned)
    at_ms = max((one.at_ms for one in last if one.at_ms is not None), default=None)
    return [Point(at_ms=at_ms, n_tokens=used, is_estimated=not is_reported, entry_id=None)]
