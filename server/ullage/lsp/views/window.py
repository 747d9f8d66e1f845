"""What fills the window of a session: its shares, their largest entries, advice, what is free."""

import asyncio
from collections import Counter
from collections.abc import Mapping

import msgspec

from ullage.app.gauge.inspect import Inspection, inspect
from ullage.app.gauge.status_text import ago, total_text
from ullage.app.sessions.load import Loaded
from ullage.core.change.prune import ALL_REASONS, plan_prune
from ullage.core.facts.pins import MAX_PIN_CHARS, read_pinnable_text
from ullage.core.gauge.breakdown import Advice, EntryTokens, Share
from ullage.lsp.convert import session_ref
from ullage.lsp.documents.outline import entry_lines, line_of
from ullage.lsp.error_edge import request
from ullage.lsp.markdown import escaped
from ullage.lsp.protocol import SessionArgument, WindowResult, WindowRow
from ullage.lsp.session import load_session, session_path
from ullage.lsp.state import UllageServer

ENTRIES_A_CATEGORY = 10
"""Of the largest, shown below their category: smaller ones free nothing to speak of (chosen)."""


class _Known(msgspec.Struct, frozen=True, kw_only=True):
    """What the rows of a session's entries are made with."""

    window: int
    """Tokens."""
    lines: Mapping[str, int]
    prunable: Mapping[str, str]
    """What `ullage.prune` takes, by entries."""
    pinnable: frozenset[str]


@request(SessionArgument)
async def run_window(ls: UllageServer, argument: SessionArgument) -> WindowResult:
    path = session_path(ls, argument.session)
    if path is None:
        return WindowResult(session=None, headline="No session in this workspace", rows=[])
    loaded = await load_session(ls, path)
    lines = await entry_lines(ls, loaded)
    return await asyncio.to_thread(window_result, loaded, lines)


def window_result(loaded: Loaded, lines: Mapping[str, int]) -> WindowResult:
    found = inspect(loaded, 0)
    window = loaded.status.gauge.window.n_tokens
    known = _Known(
        window=window, lines=lines, prunable=_prunable(loaded), pinnable=_pinnable(loaded)
    )
    rows = [
        _category(share, _largest_of(found, share.category), known)
        for share in found.breakdown.shares
    ]
    rows += [_advice(number, one) for number, one in enumerate(found.advice)]
    rows.append(_free(found.breakdown.n_free, window))
    return WindowResult(
        session=session_ref(loaded),
        headline=f"{total_text(loaded.status.gauge)} tokens",
        rows=rows,
    )


def _prunable(loaded: Loaded) -> dict[str, str]:
    """Give what `ullage.prune` takes for each entry that can be pruned in part."""
    if loaded.policy.is_read_only:
        return {}
    items, policy = loaded.context.items, loaded.policy
    plan = plan_prune(items, policy, loaded.count, reasons=ALL_REASONS)
    return {item.replacement.entry_id: item.item_id for item in reversed(plan.items)}


def _pinnable(loaded: Loaded) -> frozenset[str]:
    if loaded.policy.is_read_only:
        return frozenset()
    return frozenset(
        item.entry_id
        for item in loaded.context.items
        if 0 < len(read_pinnable_text(item)) <= MAX_PIN_CHARS
    )


def _largest_of(found: Inspection, category: str) -> list[tuple[str, EntryTokens]]:
    """List the largest entries of a category, each with a key that no other has."""
    seen: Counter[str] = Counter()
    keyed: list[tuple[str, EntryTokens]] = []
    for entry in found.breakdown.entries:
        # Several messages of a context may be parts of one entry.
        seen[entry.entry_id] += 1
        if entry.category == category:
            keyed.append((f"entry:{entry.entry_id}:{seen[entry.entry_id]}", entry))
    keyed.sort(key=lambda one: one[1].n_tokens, reverse=True)
    return keyed[:ENTRIES_A_CATEGORY]


def _category(share: Share, entries: list[tuple[str, EntryTokens]], known: _Known) -> WindowRow:
    title = share.category.capitalize()
    detail = f"{share.n_tokens:,} · {share.ratio:.1%}"
    if share.n_entries > len(entries) > 0:
        detail += f" · the {len(entries)} largest of {share.n_entries:,}"
    count = f"{share.n_entries:,} entries" if share.n_entries else "sent beside the transcript"
    return WindowRow(
        key=f"category:{share.category}",
        kind="category",
        title=title,
        detail=detail,
        tooltip=f"**{escaped(title)}**: {share.n_tokens:,} of {known.window:,} tokens, {count}",
        label=f"{title}, {share.n_tokens:,} tokens, {share.ratio:.1%} of the window, {count}",
        nTokens=share.n_tokens,
        line=None,
        item=None,
        entry=None,
        children=[_entry(key, entry, known) for key, entry in entries],
    )


def _entry(key: str, entry: EntryTokens, known: _Known) -> WindowRow:
    title = entry.label or f"({entry.category})"
    written = "" if entry.at_ms is None else f", written {ago(entry.at_ms)}"
    share = f"{entry.n_tokens:,} tokens, {entry.n_tokens / known.window:.1%} of the window"
    return WindowRow(
        key=key,
        kind="entry",
        title=title,
        detail=f"{entry.n_tokens:,}",
        tooltip=f"**{escaped(title)}**  \n{escaped(share + written)}",
        label=f"{title}, {share}{written}",
        nTokens=entry.n_tokens,
        line=line_of(known.lines, entry.entry_id),
        item=known.prunable.get(entry.entry_id),
        entry=entry.entry_id if entry.entry_id in known.pinnable else None,
        children=[],
    )


def _advice(number: int, advice: Advice) -> WindowRow:
    freed = f"frees {advice.n_tokens:,}"
    return WindowRow(
        key=f"advice:{number}",
        kind="advice",
        title=advice.text,
        detail=freed,
        tooltip=f"{escaped(advice.text)}: {freed} tokens",
        label=f"Advice: {advice.text}, {freed} tokens",
        nTokens=advice.n_tokens,
        line=None,
        item=None,
        entry=None,
        children=[],
    )


def _free(n_free: int, window: int) -> WindowRow:
    title = "Free" if n_free >= 0 else "Over the window"
    return WindowRow(
        key="free",
        kind="free",
        title=title,
        detail=f"{abs(n_free):,} · {abs(n_free) / window:.1%}",
        tooltip=f"{title}: {abs(n_free):,} of {window:,} tokens",
        label=f"{title}, {abs(n_free):,} of {window:,} tokens",
        nTokens=max(0, n_free),
        line=None,
        item=None,
        entry=None,
        children=[],
    )
