"""The adapter for the Gemini CLI: the context as its next request would carry it."""

from ullage.core.transcript.context import Compaction, Context
from ullage.core.transcript.entries import (
    Agent,
    Header,
    Lines,
    MemoryLines,
    Transcript,
)
from ullage.core.transcript.index import EMPTY_INDEX, CompactionRef, Index, chain
from ullage.core.transcript.message import JsonObject
from ullage.formats.agents.gemini.extension import extend
from ullage.formats.agents.gemini.history import Snapshot, read_history, snapshot_at
from ullage.formats.agents.gemini.items import items_of
from ullage.formats.agents.gemini.places import (
    live_folders,
    session_folders,
    session_roots,
    subagent_folders,
)
from ullage.formats.agents.gemini.prune import prune_message
from ullage.formats.agents.gemini.records import (
    Stub,
    is_document,
    lines_downwards,
    read_entry,
    read_header,
    read_stub,
)
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

AGENT: Agent = "gemini"
HAS_NESTED_FOLDERS: bool = False


def read_context(lines: Lines, header: Header, known: Index) -> Reading:
    history = read_history(lines, known)
    items, has_snapshot = items_of(history.records, history.snapshot)
    boundary = history.snapshot if has_snapshot else None
    refs = {ref.entry_id: ref for ref in history.refs}
    context = Context(
        header=header,
        items=items,
        boundary=None if boundary is None else _to_compaction(boundary),
        compactions=chain(refs, None if boundary is None else boundary.message_id),
        leaf_id=items[-1].entry_id if items else None,
        model=history.last_model,
        n_entries=history.n_entries,
        size_bytes=lines.size_bytes,
        problems=history.problems,
    )
    if is_document(lines):
        return Reading(context=context, index=EMPTY_INDEX)
    return Reading(
        context=context,
        index=index_of(
            lines, history.n_entries, history.refs, lambda line: isinstance(read_stub(line), Stub)
        ),
    )


def read_compaction(lines: Lines, ref: CompactionRef) -> Compaction | None:
    found = snapshot_at(lines, ref)
    return None if found is None else _to_compaction(found)


def messages(context: Context) -> list[JsonObject]:
    """List the contents; an answer that has nothing yet is not sent."""
    return [item.native for item in context.items if item.message.blocks]


def parse(data: bytes) -> Transcript:
    lines = MemoryLines(data)
    return transcript_of(lines, read_header(lines), map(read_entry, lines_downwards(lines)))


def _to_compaction(snapshot: Snapshot) -> Compaction:
    return Compaction(
        entry_id=snapshot.message_id,
        parent_id=None,
        at_ms=snapshot.at_ms,
        summary=snapshot.text,
        first_kept_id=None,
        # A compression notes no figures (research/agents.md §4).
        n_tokens_before=None,
        n_tokens_after=None,
        trigger=None,
        layer=None,
        n_messages=None,
        details={},
    )
