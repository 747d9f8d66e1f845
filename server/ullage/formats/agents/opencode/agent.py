"""opencode (1.18): the context as its next request would carry it, its databases, its row."""

from glob import escape
from itertools import islice
from pathlib import Path

from ullage.core.transcript.context import Compaction, Context
from ullage.core.transcript.entries import (
    Entry,
    Header,
    Lines,
)
from ullage.core.transcript.index import EMPTY_INDEX, CompactionRef, Index, linear_chain
from ullage.core.transcript.message import JsonObject, Usage
from ullage.formats.agent_info import AgentInfo, Env, Home
from ullage.formats.agents.opencode.history import Boundary, History, read_history
from ullage.formats.agents.opencode.messages import items_of, prune_message
from ullage.formats.agents.opencode.records import (
    compaction_part,
    created_ms,
    info_of,
    is_summary,
    parts_of,
    read_entry,
    read_header,
)
from ullage.formats.json_line import text_of
from ullage.formats.reading import Reading

MAX_SUMMARY_DISTANCE = 20
"""Messages after a compaction's request among which its summary is looked for (chosen)."""
_HOME = Home(variable="XDG_DATA_HOME", default=".local/share", folders=("opencode",))


def _read_context(lines: Lines, header: Header, known: Index) -> Reading:
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


def _read_compaction(lines: Lines, ref: CompactionRef) -> Compaction | None:
    """Read a compaction from its request, which its summary follows at once."""
    following = map(read_entry, islice(lines.forward(ref.offset), MAX_SUMMARY_DISTANCE))
    entries = [entry for entry in following if isinstance(entry, Entry)]
    if not entries or compaction_part(entries[0]) is None:
        return None
    summary = next((entry for entry in entries if entry.entry_id == ref.entry_id), None)
    if summary is None or not is_summary(summary):
        return None
    return _to_compaction(Boundary(request=entries[0], summary=summary), None)


def _messages(context: Context) -> list[JsonObject]:
    """List the messages, each once: all items of one share its native form."""
    sent: list[JsonObject] = []
    for item in context.items:
        if not sent or sent[-1] is not item.native:
            sent.append(item.native)
    return sent


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
        trigger="auto" if part.get("auto") is True else "manual",
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


def _database_patterns(env: Env, home: Path) -> tuple[tuple[Path, str], ...]:
    """Give folders and what a database in each is called, the main channel's first.

    `OPENCODE_DB` replaces them all; opencode takes it below its own folder unless absolute.
    """
    (root,) = _HOME.paths(env, home)
    chosen = env.get("OPENCODE_DB")
    if chosen:
        path = root / chosen
        return ((path.parent, escape(path.name)),) if path.name else ()
    return (root, "opencode.db"), (root, "opencode-*.db")


OPENCODE = AgentInfo(
    agent="opencode",
    name="opencode",
    way_out="use /compact in opencode",
    fork_hint="/fork in opencode",
    homes=(_HOME,),
    # A subagent's session is a row that names its parent.
    database_patterns=_database_patterns,
    read_header=read_header,
    read_entries=lambda lines, _: map(read_entry, lines.forward()),
    read_context=_read_context,
    # Messages grow in place, so only a new reading can tell.
    read_compaction=_read_compaction,
    messages=_messages,
    prune_message=prune_message,
)
