"""The lines of a transcript in words: what they cost, and whether they are in the context."""

from collections.abc import Mapping
from typing import Final

from ullage.app.documents.outline import OutlinedSession, count_tokens, find_known_tokens, items_of
from ullage.core.documents.in_context import Presence, find_presence
from ullage.core.documents.outline import OutlineRow, RowKind
from ullage.core.secrets.scan import mask
from ullage.core.text.prose import gist, plural
from ullage.core.transcript.agent_lines import share_text, short_tokens
from ullage.core.transcript.context import Compaction
from ullage.core.transcript.entries import Text, ToolResult, result_text

KIND_NAMES: Final[Mapping[RowKind, str]] = {
    "user": "Message of the user",
    "assistant": "Answer",
    "tool results": "Tool result",
    "summary": "Summary",
    "compaction": "Compaction",
    "system": "System prompt",
    "bootstrap": "Instructions",
    "skills": "Skills",
    "tools": "Tools",
    "injected": "Put in by the agent",
    "note": "Note of the agent",
    "unreadable": "Unreadable line",
}
MAX_COUNTED_CHARS = 200_000
"""A hover counts no more, which takes a tenth of a second; longer text is estimated (chosen)."""
SUMMARY_LINES = 6
SUMMARY_CHARS = 120
SUMMARY_READ_CHARS = 20_000
"""How much of a summary is masked for its first lines (chosen)."""
_HINTS: Mapping[Presence, str] = {
    "pruned": "pruned",
    "replaced": "compacted away",
    "left": "left",
}


def tokens_text(outlined: OutlinedSession, row: OutlineRow) -> str:
    """Say what an entry costs, counted where it is not too long; empty for what costs nothing."""
    items = items_of(outlined, row)
    if not items:
        return ""
    n_chars = sum(
        len(block.text) if isinstance(block, Text) else len(result_text(block))
        for item in items
        for block in item.message.blocks
        if isinstance(block, Text | ToolResult)
    )
    if n_chars <= MAX_COUNTED_CHARS:
        n_tokens, mark = count_tokens(outlined, items), ""
    else:
        counted = find_known_tokens(outlined, items)
        n_tokens, mark = counted.n_tokens, "~" if counted.is_estimated else ""
    share = n_tokens / outlined.loaded.status.gauge.window.n_tokens
    return f"{mark}{plural(n_tokens, 'token')}, {share:.1%} of the window"


def total_text(outlined: OutlinedSession, row: OutlineRow) -> str:
    """Say how full the context was up to an entry; empty for what is not in it."""
    live = outlined.standing.live.get(row.entry_id) if row.entry_id else None
    if live is None:
        return ""
    window = outlined.loaded.status.gauge.window.n_tokens
    share = _percent(outlined, live.n_total)
    return f"Up to here {live.n_total:,} of the window's {window:,} tokens ({share})"


def hint_text(outlined: OutlinedSession, row: OutlineRow) -> str:
    """Write an entry's cost, and how full the window was with it, in few characters.

    `1,204 tok · 42% full`; empty for what costs nothing.
    """
    items = items_of(outlined, row)
    if not items:
        return ""
    counted = find_known_tokens(outlined, items)
    parts = [f"{'~' if counted.is_estimated else ''}{counted.n_tokens:,} tok"]
    live = outlined.standing.live.get(row.entry_id) if row.entry_id else None
    if live is not None:
        parts.append(f"{_percent(outlined, live.n_total)} full")
    hint = _HINTS.get(find_presence(row, outlined.standing))
    return " · ".join(parts if hint is None else [*parts, hint])


def hint_tooltip(outlined: OutlinedSession, row: OutlineRow) -> str:
    """Say in whole sentences what a hint says in few characters."""
    counted = find_known_tokens(outlined, items_of(outlined, row))
    about = "about " if counted.is_estimated else ""
    tokens = plural(counted.n_tokens, "token")
    total = total_text(outlined, row)
    parts = [f"This entry: {about}{tokens}.", presence_text(outlined, row)]
    return " ".join([*parts, f"{total}."] if total else parts)


def presence_text(outlined: OutlinedSession, row: OutlineRow) -> str:
    boundary = outlined.standing.boundary
    match find_presence(row, outlined.standing):
        case "live":
            return "In the context."
        case "pruned":
            return "In the context; a placeholder stands for its output."
        case "replaced":
            where = "" if boundary is None else f" on line {boundary.line + 1:,}"
            return f"Not in the context: replaced by the compaction{where}."
        case "left":
            return "Not in the context: on a branch that was left, or taken out by the agent."
        case "never":
            return "Not sent to the model."


def change_text(compaction: Compaction) -> str:
    """Say what a compaction did: `180k → 42k · 51 messages`; what nobody noted is left out."""
    before, after = compaction.n_tokens_before, compaction.n_tokens_after
    parts: list[str] = []
    if before is not None or after is not None:
        parts.append(f"{_short(before)} → {_short(after)}")
    if compaction.n_messages is not None:
        parts.append(plural(compaction.n_messages, "message"))
    return " · ".join(parts) or "Compaction"


def summary_lines(outlined: OutlinedSession, compaction: Compaction) -> tuple[str, ...]:
    """Give the first lines of a summary, masked."""
    text = mask(compaction.summary[:SUMMARY_READ_CHARS], outlined.loaded.known_secrets)
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    return tuple(gist(line, SUMMARY_CHARS) for line in lines[:SUMMARY_LINES])


def _percent(outlined: OutlinedSession, n_tokens: int) -> str:
    gauge = outlined.loaded.status.gauge
    share = n_tokens / gauge.window.n_tokens
    return share_text(share, is_estimated=gauge.used_source != "reported")


def _short(n_tokens: int | None) -> str:
    return "?" if n_tokens is None else short_tokens(n_tokens)
