"""What fills the window of a session, with advice; and what of it can be pruned."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ullage.app.assembly.parts import inspect_session
from ullage.app.change.prune import NothingToPrune, PruneRequest, item_name, plan_pruning
from ullage.app.gauge.inspect import Inspection, part_title
from ullage.app.gauge.price import cost_text
from ullage.app.gauge.status_text import ago, name_text, total_text
from ullage.app.sessions.load import Loaded
from ullage.core.assembly.parts import Part
from ullage.core.change.prune import ALL_REASONS, PruneItem, plan_prune
from ullage.core.config.settings import Config
from ullage.core.documents.virtual_uri import write_entry_uri
from ullage.core.facts.pins import list_pinnable
from ullage.core.gauge.breakdown import LABEL_CHARS, Advice, EntryTokens, Share
from ullage.core.gauge.gauge import gauge_text
from ullage.core.text.prose import plural
from ullage.lsp import protocol
from ullage.lsp.convert import escape_markdown, session_ref
from ullage.lsp.follow import load_if_any
from ullage.lsp.state import UllageServer
from ullage.lsp.views.pins import list_pin_rows

ENTRIES_A_CATEGORY = 10
"""Of the largest, shown below their category: smaller ones free nothing to speak of (chosen)."""


class _EntryFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the rows of a session's entries are made with."""

    window: int
    """Tokens."""
    session: str
    """Path of the transcript."""
    prunable: Mapping[str, str]
    """What `ullage.prune` takes, by entries."""
    pinnable: frozenset[str]


async def run_window(ls: UllageServer, argument: protocol.SessionArgument) -> protocol.WindowResult:
    loaded = await load_if_any(ls, argument.session)
    if loaded is None:
        return protocol.WindowResult()
    return await asyncio.to_thread(window_result, loaded, ls.config)


def window_result(loaded: Loaded, config: Config) -> protocol.WindowResult:
    """Give what the window holds; a row begins with its figure: in a narrow view its end is cut."""
    inspection = inspect_session(loaded, 0, config)
    window = loaded.status.gauge.window.n_tokens
    facts = _EntryFacts(
        window=window,
        session=str(loaded.path),
        prunable=_list_prunable(loaded),
        pinnable=_list_pinnable(loaded),
    )
    rows: list[protocol.WindowRow] = []
    for share in inspection.breakdown.shares:
        parts = inspection.parts_in(share.category)
        # Where no part is a file, the entries tell more.
        if all(part.is_in_messages and not part.is_file for part in parts):
            parts = []
        largest = [] if parts else _list_largest(inspection, share.category)
        entries = [_entry(key, entry, facts) for key, entry in largest]
        children = [_part(part, window) for part in parts] or entries
        rows.append(_category(share, len(largest), children, window))
    rows += [_advice(number, advice) for number, advice in enumerate(inspection.advice)]
    rows.append(_free(inspection.breakdown.n_free, window))
    rows += list_pin_rows(loaded, config)
    return protocol.WindowResult(
        session=session_ref(loaded.session),
        headline=f"{total_text(loaded.status.gauge)} tokens",
        rows=rows,
    )


def _list_prunable(loaded: Loaded) -> dict[str, str]:
    """Give what `ullage.prune` takes for each entry that can be pruned in part."""
    if loaded.policy.is_read_only:
        return {}
    items, policy = loaded.context.items, loaded.policy
    plan = plan_prune(items, policy, loaded.count, reasons=ALL_REASONS)
    return {item.replacement.entry_id: item.item_id for item in reversed(plan.items)}


def _list_pinnable(loaded: Loaded) -> frozenset[str]:
    if loaded.policy.is_read_only:
        return frozenset()
    return frozenset(item.entry_id for item in list_pinnable(loaded.context.items))


def _list_largest(inspection: Inspection, category: str) -> list[tuple[str, EntryTokens]]:
    """List the largest entries of a category, each with a key that no other has."""
    seen: Counter[str] = Counter()
    keyed: list[tuple[str, EntryTokens]] = []
    for entry in inspection.breakdown.entries:
        # Several messages of a context may be parts of one entry.
        seen[entry.entry_id] += 1
        if entry.category == category:
            keyed.append((f"entry:{entry.entry_id}:{seen[entry.entry_id]}", entry))
    keyed.sort(key=lambda keyed_entry: keyed_entry[1].n_tokens, reverse=True)
    return keyed[:ENTRIES_A_CATEGORY]


def _part(part: Part, window: int) -> protocol.WindowRow:
    name = part_title(part)
    path = part.source if part.is_file else None
    tokens = f"{'' if part.is_exact else 'about '}{part.n_tokens:,} tokens"
    share = f"{part.n_tokens / window:.1%} of the window"
    title = name.capitalize() if path is None else Path(path).name
    mark = "cut" if part.cut else ""
    told = ", ".join(word for word in (f"{name}, {part.source}: {tokens}", share, mark) if word)
    # A whole path is in the tooltip: in a narrow view only its beginning would be seen.
    folder = part.source if path is None else Path(path).parent.name
    cut = f"Not sent: {part.cut}" if part.cut else ""
    cost = cost_text(part.cost)
    return protocol.WindowRow(
        key=f"part:{part.name}:{part.source}:{part.place}",
        kind="cut" if part.cut else "part",
        title=f"{part.n_tokens:,} · {title}",
        detail=" · ".join(word for word in (mark, folder) if word),
        tooltip="  \n".join(escape_markdown(line) for line in (told, cost, cut) if line),
        label=". ".join(line for line in (told, cost, cut) if line),
        nTokens=part.n_tokens,
        path=path,
    )


def _category(
    share: Share, n_largest: int, children: list[protocol.WindowRow], window: int
) -> protocol.WindowRow:
    title = share.category.capitalize()
    detail = f"{share.n_tokens:,}"
    count = (
        plural(share.n_entries, "entry", "entries")
        if share.n_entries
        else "sent beside the transcript"
    )
    if share.n_entries > n_largest > 0:
        detail += f" · the {n_largest} largest of {share.n_entries:,}"
        count += f", of which the {n_largest} largest are listed"
    tokens = f"{share.n_tokens:,} of {window:,} tokens"
    return protocol.WindowRow(
        key=f"category:{share.category}",
        kind="category",
        title=f"{share.ratio:.1%} · {title}",
        detail=detail,
        tooltip=f"**{escape_markdown(title)}**: {tokens}, {count}",
        label=f"{title}, {share.n_tokens:,} tokens, {share.ratio:.1%} of the window, {count}",
        nTokens=share.n_tokens,
        children=children,
    )


def _entry(key: str, entry: EntryTokens, facts: _EntryFacts) -> protocol.WindowRow:
    title = entry.label.cut(LABEL_CHARS) or f"({entry.category})"
    written = "" if entry.at_ms is None else f", written {ago(entry.at_ms)}"
    share = f"{entry.n_tokens:,} tokens, {entry.n_tokens / facts.window:.1%} of the window"
    return protocol.WindowRow(
        key=key,
        kind="entry",
        title=f"{entry.n_tokens:,} · {title}",
        detail="",
        tooltip=f"**{escape_markdown(title)}**  \n{escape_markdown(share + written)}",
        label=f"{title}, {share}{written}",
        nTokens=entry.n_tokens,
        uri=write_entry_uri(facts.session, entry.entry_id),
        item=facts.prunable.get(entry.entry_id),
        entry=entry.entry_id if entry.entry_id in facts.pinnable else None,
    )


def _advice(number: int, advice: Advice) -> protocol.WindowRow:
    cost = cost_text(advice.cost)
    told = f"frees {advice.n_tokens:,} tokens{cost and f', {cost}'}"
    return protocol.WindowRow(
        key=f"advice:{number}",
        kind="advice",
        title=f"−{advice.n_tokens:,} · {advice.text}",
        detail="",
        tooltip=f"{escape_markdown(advice.text)}: {escape_markdown(told)}",
        label=f"Advice: {advice.text}, {told}",
        nTokens=advice.n_tokens,
        path=advice.path,
    )


def _free(n_free: int, window: int) -> protocol.WindowRow:
    title = "Free" if n_free >= 0 else "Over the window"
    tokens, share = f"{abs(n_free):,} of {window:,} tokens", f"{abs(n_free) / window:.1%}"
    return protocol.WindowRow(
        key="free",
        kind="free",
        title=f"{share} · {title}",
        detail=f"{abs(n_free):,}",
        tooltip=f"{title}: {tokens}",
        label=f"{title}, {tokens}, {share}",
        nTokens=max(0, n_free),
    )


async def run_prunable(
    ls: UllageServer, argument: protocol.SessionArgument
) -> protocol.PrunableResult:
    loaded = await load_if_any(ls, argument.session)
    if loaded is None:
        return protocol.PrunableResult()
    return await asyncio.to_thread(prunable_result, loaded)


def prunable_result(loaded: Loaded) -> protocol.PrunableResult:
    """List what could be pruned: what the rule chooses first, then by size."""
    plan = plan_pruning(loaded, PruneRequest())
    items = sorted(plan.plan.items, key=lambda item: (not item.is_chosen, -item.n_freed))
    if isinstance(plan, NothingToPrune):
        headline = f"Nothing is due: {plan.reason}"
    else:
        headline = f"{plan.n_tokens_before:,} → {plan.n_tokens_after:,} tokens"
        # Short: a longer line is cut in the box where it stands.
        is_copy = plan.change is not None and plan.change.path_after != loaded.path
        used = gauge_text(loaded.status.gauge)
        headline += f" in a copy; this one stays at {used}" if is_copy else " by the rule"
    return protocol.PrunableResult(
        session=session_ref(loaded.session),
        title=name_text(loaded),
        headline=headline,
        rows=[_row(item, loaded) for item in items],
    )


def _row(item: PruneItem, loaded: Loaded) -> protocol.PrunableRow:
    written = "" if item.at_ms is None else f" · {ago(item.at_ms)}"
    return protocol.PrunableRow(
        item=item.item_id,
        title=item_name(item, loaded),
        detail=f"{item.n_freed:,} tokens{written} · {item.reason}",
        nTokens=item.n_freed,
        isChosen=item.is_chosen,
        uri=write_entry_uri(str(loaded.path), item.replacement.entry_id),
    )
