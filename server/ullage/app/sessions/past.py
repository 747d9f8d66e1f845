"""What a session's compactions hid: the contexts before them, and so all that was ever said."""

from collections.abc import Iterator

from ullage.app.sessions.session import Session
from ullage.core.transcript.context import Compaction, Context, ContextItem
from ullage.core.transcript.entries import Lines, MemoryLines
from ullage.core.transcript.lineage import CompactionRef, Index
from ullage.formats.reading import Reading
from ullage.store.transcript.reader import FileLines, FirstLines


def list_all_items(session: Session, reading: Reading) -> Iterator[ContextItem]:
    """List the messages of a session from its beginning, those before its compactions too.

    Each comes once, on the path that is active now; summaries are left out.
    """
    seen: set[str] = set()
    contexts = (
        read_context_before(session, compaction, ref, reading.index)
        for ref in reading.context.compactions
        if (compaction := session.agent.read_compaction(session.lines, ref)) is not None
    )
    for context in (*contexts, reading.context):
        for item in context.items:
            if item.category == "summary" or (item.entry_id and item.entry_id in seen):
                continue
            seen.add(item.entry_id)
            yield item


def read_context_before(
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
    compactions = tuple(ref for ref in index.compactions if ref.offset + ref.size_bytes <= end)
    covered = max((ref.offset + ref.size_bytes for ref in compactions), default=0)
    so_far = Index(covered_bytes=covered, n_entries=0, compactions=compactions)
    lines = _lines_until(session, end)
    return session.agent.read_context(lines, session.header, so_far).context


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
            entries = session.agent.parse(line.raw).entries
            if entries and entries[0].entry_id == entry_id:
                return line.offset + len(line.raw)
    return None
