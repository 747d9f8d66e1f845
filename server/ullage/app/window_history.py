"""How full a session's window was over time, also before its compactions."""

from collections.abc import Iterator

from ullage.app.load import Loaded
from ullage.app.session import Session
from ullage.core.context import Compaction, Context
from ullage.core.index import CompactionRef, Index
from ullage.core.transcript import Lines, MemoryLines
from ullage.core.window_history import Mark, Point, WindowHistory, thinned, usage_points
from ullage.store.reader import FileLines, FirstLines


def window_history(loaded: Loaded) -> WindowHistory:
    """Read every context that a compaction ended, each once, and the present one."""
    points: list[Point] = []
    marks: list[Mark] = []
    for compaction, before in _ended_contexts(loaded):
        points += usage_points(before.items)
        marks.append(_mark(compaction, len(points)))
    points += usage_points(loaded.context.items)
    points += _now(loaded, points)
    return thinned(WindowHistory(points=tuple(points), marks=tuple(marks)))


def _ended_contexts(loaded: Loaded) -> Iterator[tuple[Compaction, Context]]:
    session, refs = loaded.session, loaded.context.compactions
    for ref in refs:
        compaction = session.format.read_compaction(session.lines, ref)
        if compaction is not None:
            yield compaction, _context_before(session, compaction, ref, loaded.reading.index)


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
    used = gauge.used_tokens
    if used is None or (points and gauge.n_counted == 0 and gauge.used_source == "reported"):
        return []
    at_ms = loaded.context.items[-1].at_ms if loaded.context.items else None
    return [Point(at_ms=at_ms, n_tokens=used, is_estimated=True, entry_id=None)]


def _mark(compaction: Compaction, n_point: int) -> Mark:
    return Mark(
        n_point=n_point,
        at_ms=compaction.at_ms,
        layer=compaction.layer,
        trigger=compaction.trigger,
        n_tokens_before=compaction.n_tokens_before,
        n_tokens_after=compaction.n_tokens_after,
    )
