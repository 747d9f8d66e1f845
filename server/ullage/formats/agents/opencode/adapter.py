"""The adapter for opencode (1.18): the context as its next request would carry it."""

from collections.abc import Sequence
from itertools import islice

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
from ullage.core.transcript.index import EMPTY_INDEX, CompactionRef, Index, linear_chain
from ullage.core.transcript.message import JsonObject, Usage
from ullage.formats.agents.opencode.history import Boundary, History, read_history
from ullage.formats.agents.opencode.messages import items_of
from ullage.formats.agents.opencode.places import (
    live_folders,
    session_folders,
    session_roots,
    subagent_folders,
)
from ullage.formats.agents.opencode.prune import prune_message
from ullage.formats.agents.opencode.records import (
    compaction_part,
    created_ms,
    info_of,
    is_summary,
    parts_of,
    read_entry,
    read_header,
)
from ullage.formats.format import Reading, transcript_of
from ullage.formats.json_line import text_of

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

AGENT: Agent = "opencode"
HAS_NESTED_FOLDERS: bool = False
MAX_SUMMARY_DISTANCE = 20
"""Messages after a compaction's request among which its summary is looked for (chosen)."""


def read_context(lines: Lines, header: Header, known: Index) -> Reading:
    if known.covered_bytes > lines.size_bytes:
        known = EMPTY_INDEX
    history = read_history(lines, known)
    boundary = history.boundary
    since = 0 if boundary is None else boundary.request.offset
    refs = () if boundary is None else linear_chain((*known.compactions, *history.refs))
    context = Context(
        header=header,
        items=tuple(
            item
            for entry in history.sent
            for item in items_of(entry, is_after_boundary=entry.offset >= since)
        ),
        boundary=None if boundary is None else _to_compaction(boundary, history.usage_before),
        compactions=refs,
        leaf_id=None if history.last is None else history.last.entry_id,
        model=_model_of(history),
        n_entries=history.n_entries,
        size_bytes=lines.size_bytes,
        problems=history.problems,
    )
    return Reading(context=context, index=_index_of(history, refs))


def extend(reading: Reading, lines: Sequence[Line], size_bytes: int) -> Reading | None:
    """Give up: messages grow in place, so only a new reading can tell."""
    del reading, lines, size_bytes


def read_compaction(lines: Lines, ref: CompactionRef) -> Compaction | None:
    """Read a compaction from its request, which its summary follows at once."""
    found = (read_entry(line) for line in islice(lines.forward(ref.offset), MAX_SUMMARY_DISTANCE))
    entries = [entry for entry in found if isinstance(entry, Entry)]
    if not entries or compaction_part(entries[0]) is None:
        return None
    summary = next((entry for entry in entries if entry.entry_id == ref.entry_id), None)
    if summary is None or not is_summary(summary):
        return None
    return _to_compaction(Boundary(request=entries[0], summary=summary), None)


def messages(context: Context) -> list[JsonObject]:
    """List the messages, each once: all items of one share its native form."""
    found: list[JsonObject] = []
    for item in context.items:
        if not found or found[-1] is not item.native:
            found.append(item.native)
    return found


def parse(data: bytes) -> Transcript:
    lines = MemoryLines(data)
    return transcript_of(lines, read_header(lines), map(read_entry, lines.forward()))


def _to_compaction(boundary: Boundary, usage_before: Usage | None) -> Compaction:
    part = compaction_part(boundary.request) or {}
    texts = (
        text_of(part, "text") or ""
        for part in parts_of(boundary.summary)
        if part.get("type") == "text"
    )
    return Compaction(
        entry_id=boundary.summary.entry_id,
        parent_id=boundary.request.entry_id,
        at_ms=created_ms(boundary.summary),
        summary="\n".join(texts),
        first_kept_id=text_of(part, "tail_start_id"),
        n_tokens_before=None if usage_before is None else usage_before.n_total,
        n_tokens_after=None,
        trigger="auto" if part.get("auto") is True else "manual",
        layer=None,
        n_messages=None,
        details=part,
    )


def _model_of(history: History) -> str | None:
    answers = (entry for entry in reversed(history.sent) if entry.kind == "assistant")
    return next((text_of(info_of(e), "modelID") for e in answers if not is_summary(e)), None)


def _index_of(history: History, refs: tuple[CompactionRef, ...]) -> Index:
    """Cover what lies before the last compaction only: what follows may still change."""
    if history.boundary is None:
        return EMPTY_INDEX
    covered = history.boundary.request.offset
    return Index(
        covered_bytes=covered,
        n_entries=history.n_entries_dead,
        compactions=tuple(ref for ref in refs if ref.offset < covered),
    )
