"""The adapter for Codex: the context as its next request would carry it."""

from itertools import islice

from ullage.core.transcript.context import Compaction, Context
from ullage.core.transcript.entries import (
    Agent,
    Entry,
    Header,
    Lines,
    MemoryLines,
    Transcript,
)
from ullage.core.transcript.index import CompactionRef, Index, chain
from ullage.core.transcript.message import JsonObject
from ullage.formats.agents.codex.assembly import Assembly
from ullage.formats.agents.codex.compaction import items_of_boundary, to_compaction
from ullage.formats.agents.codex.extension import extend
from ullage.formats.agents.codex.history import read_history
from ullage.formats.agents.codex.places import (
    live_folders,
    session_folders,
    session_roots,
    subagent_folders,
)
from ullage.formats.agents.codex.prune import prune_message
from ullage.formats.agents.codex.records import Stub, read_entry, read_header, read_stub
from ullage.formats.format import Reading, index_of, transcript_of

__all__ = [
    "AGENT",
    "HAS_NESTED_FOLDERS",
    "extend",
    "live_folders",
    "messages",
    "parse",
    "prune_message",
    "read_compaction",
    "read_context",
    "read_header",
    "session_folders",
    "session_roots",
    "subagent_folders",
]

AGENT: Agent = "codex"
HAS_NESTED_FOLDERS: bool = True
MAX_ESTIMATE_DISTANCE = 20
"""Lines after a compaction among which its estimate is looked for (the fourth, seen)."""


def read_context(lines: Lines, header: Header, known: Index) -> Reading:
    history = read_history(lines, known)
    refs = {ref.entry_id: ref for ref in (*known.compactions, *history.refs)}
    entry = history.boundary
    assembly = Assembly(
        () if entry is None else items_of_boundary(entry), has_boundary=entry is not None
    )
    for above in history.above:
        assembly.add_above(above)
    for after in history.after:
        assembly.add(after)
    items = tuple(assembly.items)
    boundary = None if entry is None else to_compaction(entry, items, assembly.n_tokens_after)
    context = Context(
        header=header,
        items=items,
        boundary=boundary,
        compactions=chain(refs, None if boundary is None else boundary.entry_id),
        leaf_id=history.leaf_id,
        model=assembly.model,
        n_entries=history.n_entries,
        size_bytes=lines.size_bytes,
        problems=history.problems,
        window_tokens=assembly.window_tokens,
        pruned=assembly.pruned,
    )
    return Reading(
        context=context,
        index=index_of(
            lines, history.n_entries, refs.values(), lambda line: isinstance(read_stub(line), Stub)
        ),
    )


def read_compaction(lines: Lines, ref: CompactionRef) -> Compaction | None:
    """Read a compaction and, from the lines after it, Codex's estimate of what it left."""
    found = (read_entry(line) for line in islice(lines.forward(ref.offset), MAX_ESTIMATE_DISTANCE))
    entries = [entry for entry in found if isinstance(entry, Entry)]
    if not entries or (entries[0].entry_id, entries[0].kind) != (ref.entry_id, "compacted"):
        return None
    assembly = Assembly(items_of_boundary(entries[0]), has_boundary=True)
    for entry in entries[1:]:
        if entry.kind == "compacted":
            break
        assembly.add(entry)
    return to_compaction(entries[0], assembly.items, assembly.n_tokens_after)


def messages(context: Context) -> list[JsonObject]:
    return [item.native for item in context.items]


def parse(data: bytes) -> Transcript:
    lines = MemoryLines(data)
    return transcript_of(lines, read_header(lines), map(read_entry, lines.forward()))
