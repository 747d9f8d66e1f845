"""Advice on what to take out of a context, each with what it would free."""

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from ullage.core.gauge.breakdown import UNSEEN, Breakdown
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.message import Image, ToolCall, ToolResult
from ullage.core.transcript.tokens import IMAGE_TOKENS

LARGE_UNSEEN_RATIO = 0.2
"""A system prompt and tools above this share of the window are worth a look (chosen)."""
LARGE_RESULT_TOKENS = 8_000
OLD_AFTER_USER_TURNS = 2
"""Tool results of the last two user turns are in use, as for a prune."""
MIN_GAIN_TOKENS = 1_000
MAX_ADVICE = 5


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    n_tokens: int
    """What following it would free."""


def advise(items: Sequence[ContextItem], breakdown: Breakdown) -> tuple[Advice, ...]:
    """List what would free most, largest first."""
    tokens = {entry.entry_id: entry.n_tokens for entry in breakdown.entries}
    found = (
        _unseen(breakdown),
        _old_results(items, tokens),
        _repeated_reads(items, tokens),
        _images(items),
    )
    worth = [one for one in found if one is not None and one.n_tokens >= MIN_GAIN_TOKENS]
    return tuple(sorted(worth, key=lambda one: one.n_tokens, reverse=True)[:MAX_ADVICE])


def _unseen(breakdown: Breakdown) -> Advice | None:
    share = next((s for s in breakdown.shares if s.category == UNSEEN), None)
    if share is None or share.ratio < LARGE_UNSEEN_RATIO:
        return None
    return Advice(
        text=f"The system prompt and the tools' descriptions take {share.ratio:.0%} of the window:"
        " turn off MCP servers and skills that this work does not need",
        n_tokens=share.n_tokens,
    )


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
