"""Whether a line of a transcript is in the context, and how full the context was there."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from ullage.core.change.tool_outputs import is_placeholder
from ullage.core.documents.outline import Outline, OutlineRow, find_row_at_offset
from ullage.core.gauge.gauge import Gauge, tells_usage
from ullage.core.transcript.context import Context, ContextItem
from ullage.core.transcript.entries import ToolResult
from ullage.core.transcript.tokens import count_message, estimate

Presence: TypeAlias = Literal["live", "pruned", "replaced", "left", "never"]
"""In the context; there, but its output is a placeholder; a compaction replaced it; on a branch
that was left, or taken out; never sent to the model."""


class LiveEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that is in the context."""

    items: tuple[ContextItem, ...]
    n_total: int
    """Tokens of the context up to it, itself included."""


class ContextMatch(msgspec.Struct, frozen=True, kw_only=True):
    """What of a transcript is in the context."""

    live: Mapping[str, LiveEntry]
    """By the ids of their entries."""
    path: frozenset[str] | None
    """Ids that lead to the last entry; None where entries name no parents."""
    boundary: OutlineRow | None
    """The compaction that replaced what stands before it."""


def match_context(outline: Outline, context: Context, gauge: Gauge) -> ContextMatch:
    """Match the lines of a file with the context that was read from it."""
    last = context.compactions[-1] if context.boundary and context.compactions else None
    return ContextMatch(
        live=_group_live(context.items, add_up_tokens(context.items, gauge)),
        path=_find_path(outline.rows, context.leaf_id),
        boundary=None if last is None else find_row_at_offset(outline, last.offset),
    )


def find_presence(row: OutlineRow, standing: ContextMatch) -> Presence:
    entry = standing.live.get(row.entry_id) if row.entry_id else None
    boundary, path = standing.boundary, standing.path
    if entry is not None:
        return "pruned" if any(map(_is_pruned, entry.items)) else "live"
    if boundary is not None and row.offset == boundary.offset:
        return "live"
    if row.kind in ("note", "unreadable"):
        return "never"
    is_left = path is not None and not _is_on(path, row)
    return "replaced" if boundary and row.offset < boundary.offset and not is_left else "left"


def _group_live(items: Sequence[ContextItem], totals: Sequence[int]) -> dict[str, LiveEntry]:
    entries: dict[str, LiveEntry] = {}
    for item, n_total in zip(items, totals, strict=True):
        # What stands inside of an entry has the entry's id and a number behind it.
        for entry_id in {item.entry_id, item.entry_id.partition(".")[0]}:
            before = entries.get(entry_id)
            earlier = () if before is None else before.items
            entries[entry_id] = LiveEntry(items=(*earlier, item), n_total=n_total)
    return entries


def _find_path(rows: Sequence[OutlineRow], leaf_id: str | None) -> frozenset[str] | None:
    parents = {row.entry_id: row.parent_id for row in rows if row.entry_id}
    if not any(parents.values()):
        return None
    current = leaf_id or next((row.entry_id for row in reversed(rows) if row.parent_id), None)
    path: set[str] = set()
    while current is not None and current in parents and current not in path:
        path.add(current)
        current = parents[current]
    return frozenset(path)


def _is_on(path: frozenset[str], row: OutlineRow) -> bool:
    """Whether a row is on the path; results of parallel calls hang beside it (Claude Code)."""
    return row.entry_id in path or (row.kind == "tool results" and row.parent_id in path)


def _is_pruned(item: ContextItem) -> bool:
    return any(isinstance(b, ToolResult) and is_placeholder(b) for b in item.message.blocks)


def add_up_tokens(items: Sequence[ContextItem], gauge: Gauge) -> tuple[int, ...]:
    """Give the tokens of the context up to each message, that one included.

    An answer's reported usage is exact. Between two of them characters are counted, which cannot
    err by more than a turn does; before the first, what the agent sends beside the messages, its
    system prompt and tools, is what the figures leave over.
    """
    sizes = [count_message(item.message, estimate) for item in items]
    reported = [
        item.message.usage.n_total if item.message.usage and tells_usage(item) else None
        for item in items
    ]
    first = next((at for at, n_tokens in enumerate(reported) if n_tokens is not None), None)
    if first is None:
        total = max(0, (gauge.used_tokens or 0) - sum(sizes))
    else:
        total = max(0, (reported[first] or 0) - sum(sizes[: first + 1]))
    totals: list[int] = []
    for n_tokens, size in zip(reported, sizes, strict=True):
        total = total + size if n_tokens is None else n_tokens
        totals.append(total)
    return tuple(totals)
