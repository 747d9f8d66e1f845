"""The adapter for pi and OpenClaw: the context exactly as pi builds it (0.87.1).

pi 0.73.1 builds the same from every file that it can write itself: what differs is new in
0.84 to 0.87 (`context_edit`, system messages, `compaction.systemMessage`).
"""

import msgspec

from ullage.core.transcript.context import Compaction, Context
from ullage.core.transcript.entries import (
    Agent,
    Entry,
    Header,
    Line,
    Lines,
    MemoryLines,
    Transcript,
)
from ullage.core.transcript.index import CompactionRef, Index, chain, linear_chain
from ullage.core.transcript.message import JsonObject
from ullage.formats.agents.openclaw.entries import (
    Stub,
    linear_entries,
    read_entry,
    read_header,
    read_stub,
)
from ullage.formats.agents.openclaw.extension import extend
from ullage.formats.agents.openclaw.notes import notes_of
from ullage.formats.agents.openclaw.places import (
    live_folders,
    session_folders,
    session_roots,
    subagent_folders,
)
from ullage.formats.agents.openclaw.projection import model_of, project
from ullage.formats.agents.openclaw.prune import prune_message
from ullage.formats.agents.openclaw.seed_entries import EVENTS, EVENTS_VERSION
from ullage.formats.agents.openclaw.seed_path import read_active_path
from ullage.formats.format import Reading, index_of, transcript_of
from ullage.formats.json_line import int_of, ms_of, object_of, text_of

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

AGENT: Agent = "openclaw"
HAS_NESTED_FOLDERS: bool = False


def read_context(lines: Lines, header: Header, known: Index) -> Reading:
    is_linear = header.dialect == EVENTS
    path = read_active_path(lines, header, known)
    boundary = None
    if path.boundary is not None and path.boundary.kind == "compaction":
        boundary = to_compaction(path.boundary)
    notes = notes_of(path.after)
    if boundary is not None and notes.is_figure_stale:
        boundary = msgspec.structs.replace(boundary, n_tokens_after=None)
    refs = (*known.compactions, *path.refs)
    by_id = {ref.entry_id: ref for ref in refs}
    last_id = None if boundary is None else boundary.entry_id
    leaf = path.after[-1] if path.after else path.boundary
    context = Context(
        header=header,
        items=project(path, header.dialect),
        boundary=boundary,
        compactions=linear_chain(refs) if is_linear else chain(by_id, last_id),
        leaf_id=None if leaf is None else leaf.entry_id,
        model=model_of(path),
        n_entries=path.n_entries,
        size_bytes=lines.size_bytes,
        problems=path.problems,
        pruned=notes.pruned,
    )
    known_refs = context.compactions if is_linear else by_id.values()
    return Reading(context=context, index=index_of(lines, path.n_entries, known_refs, _is_entry))


def read_compaction(lines: Lines, ref: CompactionRef) -> Compaction | None:
    line = next(lines.forward(ref.offset), None)
    entry = None if line is None else read_entry(line, EVENTS_VERSION)
    if not isinstance(entry, Entry) or entry.kind != "compaction":
        return None
    return msgspec.structs.replace(to_compaction(entry), entry_id=ref.entry_id)


def to_compaction(entry: Entry) -> Compaction:
    native = entry.native
    details = object_of(native, "details") or {}
    n_after = int_of(native, "tokensAfter")
    return Compaction(
        entry_id=entry.entry_id,
        parent_id=entry.parent_id,
        at_ms=ms_of(native) or ms_of(details),
        summary=text_of(native, "summary") or "",
        first_kept_id=text_of(native, "firstKeptEntryId"),
        n_tokens_before=int_of(native, "tokensBefore"),
        n_tokens_after=int_of(details, "tokensAfter") if n_after is None else n_after,
        trigger=text_of(details, "trigger"),
        layer=text_of(details, "layer"),
        n_messages=int_of(details, "messagesCompacted"),
        details=details,
    )


def messages(context: Context) -> list[JsonObject]:
    return [item.native for item in context.items]


def parse(data: bytes) -> Transcript:
    lines = MemoryLines(data)
    header = read_header(lines)
    version = 3 if header is None else header.version
    if version == 1:
        return transcript_of(lines, header, linear_entries(lines))
    found = (read_entry(line, version) for line in lines.forward())
    return transcript_of(lines, header, found)


def _is_entry(line: Line) -> bool:
    return isinstance(read_stub(line), Stub)
