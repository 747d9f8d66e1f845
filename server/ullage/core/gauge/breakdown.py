"""What fills the context, by category and by entry, and what could be taken out of it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from ullage.core.facts.tool_calls import describe_call
from ullage.core.gauge.gauge import Gauge
from ullage.core.gauge.price import Cost
from ullage.core.text.short_paths import Label
from ullage.core.transcript.agent_lines import IMAGE_TOKENS
from ullage.core.transcript.context import HIDDEN, UNSEEN, Category, Context, ContextItem
from ullage.core.transcript.entries import Block, Image, Text, Thinking, ToolCall, ToolResult
from ullage.core.transcript.tokens import Count, count_block, count_message

LABEL_CHARS = 160
"""Of a row as wide as a table may be (chosen)."""
LARGE_RESULT_TOKENS = 8_000
OLD_AFTER_USER_TURNS = 2
"""Tool results of the last two user turns are in use, as for a prune."""
MIN_GAIN_TOKENS = 1_000
MAX_ADVICE = 5


class Share(msgspec.Struct, frozen=True, kw_only=True):
    category: str
    n_tokens: int
    n_entries: int
    ratio: float
    """Of the window, 0 to 1."""


class EntryTokens(msgspec.Struct, frozen=True, kw_only=True):
    entry_id: str
    category: Category
    label: Label
    """What the entry is, in a few words; its text has at most `LABEL_CHARS`."""
    n_tokens: int
    at_ms: int | None


class Breakdown(msgspec.Struct, frozen=True, kw_only=True):
    shares: tuple[Share, ...]
    """Largest first; with what is unseen they add up to the gauge."""
    entries: tuple[EntryTokens, ...]
    """In the order of the context."""
    n_free: int
    """Tokens of the window that are not used; negative where the context overflows."""


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    n_tokens: int
    """What following it would free."""
    path: str | None = None
    """The file that it is about."""
    cost: Cost = Cost()
    """Of what it would free."""


def break_down(
    context: Context, gauge: Gauge, count: Count, hide: Callable[[str], str]
) -> Breakdown:
    """Count every message of a context; what a report adds to that is shown as unseen.

    `hide` takes the secrets out of a text that becomes a label.
    """
    calls = _call_labels(context.items)
    entries = tuple(
        EntryTokens(
            entry_id=item.entry_id,
            category=item.category,
            label=_label(item, calls, hide),
            n_tokens=count_message(item.message, count),
            at_ms=item.at_ms,
        )
        for item in context.items
    )
    used = gauge.used_tokens
    n_used = sum(entry.n_tokens for entry in entries) if used is None else used
    return Breakdown(
        shares=share_out(list_parts(context.items, count), gauge),
        entries=entries,
        n_free=gauge.window.n_tokens - n_used,
    )


def list_parts(items: Iterable[ContextItem], count: Count) -> Iterator[tuple[str, int]]:
    """List the tokens of each message by its category, of one of several kinds by its parts."""
    for item in items:
        blocks = item.message.blocks
        if not item.block_categories and not any(_is_parted(block) for block in blocks):
            yield item.category, count_message(item.message, count)
            continue
        categories = item.block_categories or (item.category,) * len(blocks)
        for category, block in zip(categories, blocks, strict=True):
            n_tokens = count_block(block, count)
            if category == "user" and isinstance(block, Text):
                others = (part for part in block.speech if part.speaker == "harness")
                n_injected = min(n_tokens, sum(count(part.text) for part in others))
                yield "injected", n_injected
                n_tokens -= n_injected
            yield category, n_tokens


def _is_parted(block: Block) -> bool:
    return isinstance(block, Text) and bool(block.speech)


def share_out(parts: Iterable[tuple[str, int]], gauge: Gauge) -> tuple[Share, ...]:
    """Add up tokens by category, largest first; what the gauge has beyond them is unseen."""
    sums: dict[str, tuple[int, int]] = {}
    for category, n_more in parts:
        n_tokens, n_entries = sums.get(category, (0, 0))
        sums[category] = (n_tokens + n_more, n_entries + 1)
    n_seen = sum(n_tokens for n_tokens, _ in sums.values())
    if gauge.used_tokens is not None and gauge.used_tokens > n_seen:
        sums[UNSEEN] = (gauge.used_tokens - n_seen, 0)
    window = gauge.window.n_tokens
    shares = (
        Share(category=name, n_tokens=n, n_entries=n_entries, ratio=n / window)
        for name, (n, n_entries) in sums.items()
    )
    return tuple(sorted(shares, key=lambda share: share.n_tokens, reverse=True))


def largest(breakdown: Breakdown, n_entries: int) -> tuple[EntryTokens, ...]:
    ordered = sorted(breakdown.entries, key=lambda entry: entry.n_tokens, reverse=True)
    return tuple(ordered[:n_entries])


def _call_labels(items: Sequence[ContextItem]) -> dict[str, Label]:
    blocks = (block for item in items for block in item.message.blocks)
    return {b.call_id: _call_label(b) for b in blocks if isinstance(b, ToolCall)}


def _call_label(call: ToolCall) -> Label:
    return msgspec.structs.replace(describe_call(call), tool=call.name)


def _label(item: ContextItem, calls: dict[str, Label], hide: Callable[[str], str]) -> Label:
    """Describe an entry by its first block that says something, where it may be shown."""
    if item.is_hidden:
        return Label(HIDDEN)
    blocks = item.message.blocks
    own = [
        block
        for block, category in zip(blocks, item.block_categories, strict=False)
        if category == item.category
    ]
    labels = (_block_label(block, calls) for block in own or blocks)
    label = next((label for label in labels if label.text or label.tool), Label(""))
    whole = Label(hide(label.text), label.is_path)
    return Label(whole.cut(LABEL_CHARS), label.is_path, label.tool)


def _block_label(block: Block, calls: dict[str, Label]) -> Label:
    match block:
        case Text() | Thinking():
            return Label(block.text.strip())
        case Image():
            return Label(f"image {block.media_type}")
        case ToolCall():
            return _call_label(block)
        case ToolResult():
            return calls.get(block.call_id) or Label("", tool=block.name)


def advise(items: Sequence[ContextItem], breakdown: Breakdown) -> tuple[Advice, ...]:
    """List what would free most, largest first."""
    tokens = {entry.entry_id: entry.n_tokens for entry in breakdown.entries}
    offers = (
        _old_results(items, tokens),
        _repeated_reads(items, tokens),
        _images(items),
    )
    worth = [tip for tip in offers if tip is not None and tip.n_tokens >= MIN_GAIN_TOKENS]
    return tuple(sorted(worth, key=lambda tip: tip.n_tokens, reverse=True)[:MAX_ADVICE])


def _old_results(items: Sequence[ContextItem], tokens: dict[str, int]) -> Advice | None:
    asked = [at for at, item in enumerate(items) if item.category == "user"]
    if len(asked) < OLD_AFTER_USER_TURNS:
        return None
    old = [
        tokens[item.entry_id]
        for item in items[: asked[-OLD_AFTER_USER_TURNS]]
        if item.category == "tool results" and tokens[item.entry_id] >= LARGE_RESULT_TOKENS
    ]
    return Advice(
        text=f"{_count(len(old), 'large tool result')} from before the last"
        f" {OLD_AFTER_USER_TURNS} user turns, which a compaction replaces",
        n_tokens=sum(old),
    )


def _repeated_reads(items: Sequence[ContextItem], tokens: dict[str, int]) -> Advice | None:
    """Find results of the very same call: only the last one tells the present state."""
    keys: dict[str, str] = {}
    results: defaultdict[str, list[int]] = defaultdict(list)
    for item in items:
        for block in item.message.blocks:
            if isinstance(block, ToolCall):
                keys[block.call_id] = f"{block.name} {block.arguments}"
            elif isinstance(block, ToolResult) and block.call_id in keys:
                results[keys[block.call_id]].append(tokens[item.entry_id])
    repeated = {key: sizes for key, sizes in results.items() if len(sizes) > 1}
    n_calls = sum(len(sizes) - 1 for sizes in repeated.values())
    return Advice(
        text=f"{_count(n_calls, 'result')} of calls that were repeated later",
        n_tokens=sum(sum(sizes[:-1]) for sizes in repeated.values()),
    )


def _images(items: Sequence[ContextItem]) -> Advice | None:
    n_images = sum(isinstance(b, Image) for item in items for b in item.message.blocks)
    n_images += sum(
        isinstance(part, Image)
        for item in items
        for block in item.message.blocks
        if isinstance(block, ToolResult)
        for part in block.content
    )
    return Advice(
        text=f"{_count(n_images, 'image')} sent again with every request",
        n_tokens=n_images * IMAGE_TOKENS,
    )


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"
