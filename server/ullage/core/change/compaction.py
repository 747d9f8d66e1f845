"""Where a context may be cut, and what a summary would replace."""

from collections.abc import Sequence

import msgspec

from ullage.core.config.settings import Policy
from ullage.core.gauge.gauge import Gauge, Layer, protected_tokens
from ullage.core.transcript.context import Context, ContextItem, list_cuts
from ullage.core.transcript.entries import ToolCall, ToolResult
from ullage.core.transcript.tokens import Count, count_message

SUMMARY_SHARE = 8
"""The summary may take an eighth of what it replaces (docs/design/summaries.md, "Aims")."""
MIN_SUMMARY_TOKENS = 300
MAX_SUMMARY_TOKENS = 6_000
MAX_SUMMARY_RATIO = 0.5
"""A summary that is larger than half of what it replaces is not worth its loss (chosen)."""


class NoCompaction(msgspec.Struct, frozen=True, kw_only=True):
    """Why nothing is compacted, in words for the user."""

    reason: str


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """A context split in two: items before `first_kept` go, the others stay."""

    first_kept: int
    n_tokens_replaced: int
    n_tokens_kept: int


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """What a compaction would replace, before there is a summary."""

    layer: Layer
    cut: Cut
    replaced: tuple[ContextItem, ...]
    kept: tuple[ContextItem, ...]
    n_tokens_before: int
    n_tokens_hidden: int
    """What the agent adds that we cannot see: its system prompt and tools."""
    summary_budget_tokens: int


def select(
    context: Context, gauge: Gauge, layer: Layer, policy: Policy, count: Count
) -> Selection | NoCompaction:
    """Select what a layer replaces, if there is anything to gain."""
    items = context.items
    waiting = refuse_open_calls(items)
    if waiting is not None:
        return waiting
    n_tokens = [count_message(item.message, count) for item in items]
    protect = protected_tokens(layer, gauge.window.n_tokens, policy)
    cut = find_cut(items, n_tokens, protect)
    if cut is None and max(n_tokens, default=0) > protect:
        return NoCompaction(
            reason=f"the last message alone takes most of the"
            f" {sum(n_tokens):,} tokens, and nothing before it can go"
        )
    if cut is None:
        return NoCompaction(
            reason=f"the context beyond the summary is smaller than the"
            f" {protect:,} tokens that stay as they are"
        )
    return _make_selection(items, n_tokens, cut, gauge, layer)


def select_before(
    context: Context, gauge: Gauge, layer: Layer, first_kept: int, count: Count
) -> Selection | NoCompaction:
    """Select what stands before a message that the agent's runtime chose to keep.

    All may go: then `first_kept` is the number of messages.
    """
    items = context.items
    if find_parted_call(items, first_kept) is not None:
        return NoCompaction(reason="the cut would part a tool call from its result")
    if all(item.category == "summary" for item in items[:first_kept]):
        return NoCompaction(reason="nothing would be replaced but the summary before")
    n_tokens = [count_message(item.message, count) for item in items]
    return _make_selection(items, n_tokens, _cut_at(first_kept, n_tokens), gauge, layer)


def _make_selection(
    items: tuple[ContextItem, ...],
    n_tokens: Sequence[int],
    cut: Cut,
    gauge: Gauge,
    layer: Layer,
) -> Selection | NoCompaction:
    replaced = items[: cut.first_kept]
    if any(item.category == "summary" and not item.message.blocks for item in replaced):
        return NoCompaction(
            reason="the last compaction of this session is encrypted, and no summary of ours could"
            " hold what it says: compact in the agent"
        )
    n_hidden = count_hidden_tokens(gauge, sum(n_tokens))
    budget = min(
        MAX_SUMMARY_TOKENS, max(MIN_SUMMARY_TOKENS, cut.n_tokens_replaced // SUMMARY_SHARE)
    )
    return Selection(
        layer=layer,
        cut=cut,
        replaced=replaced,
        kept=items[cut.first_kept :],
        n_tokens_before=n_hidden + sum(n_tokens),
        n_tokens_hidden=n_hidden,
        summary_budget_tokens=budget,
    )


def refuse_open_calls(items: Sequence[ContextItem]) -> NoCompaction | None:
    """Say why nothing is done while the agent is in the middle of a step; None where it is not."""
    waiting = list_open_calls(items)
    if not waiting:
        return None
    return NoCompaction(
        reason=f"the last tool call ({waiting[-1].name}) has no result yet:"
        " let the agent finish its step first"
    )


def count_hidden_tokens(gauge: Gauge, n_counted: int) -> int:
    """Give what is sent beside the messages that were counted: system prompt and tools."""
    return max(0, (gauge.used_tokens or 0) - n_counted)


def refuse_summary(selection: Selection, n_summary_tokens: int, summary: str) -> str | None:
    """Say why a summary must not replace anything; None where it may."""
    if not summary.strip():
        return "the summary is empty"
    limit = selection.cut.n_tokens_replaced * MAX_SUMMARY_RATIO
    if n_summary_tokens > limit:
        return (
            f"compaction would gain too little: a summary of {n_summary_tokens:,} tokens for"
            f" {selection.cut.n_tokens_replaced:,}"
        )
    return None


def find_cut(
    items: Sequence[ContextItem], n_tokens: Sequence[int], protect_tokens: int
) -> Cut | None:
    """Find the cut that keeps as much of the recent context as the protected share holds.

    `n_tokens` are the tokens of each item. Where the last messages alone are larger than the
    share, the last legal cut is taken. None where nothing would be replaced.
    """
    legal = list_cuts(items)
    if not legal:
        return None
    start = len(items)
    n_recent = 0
    while start > 0 and n_recent + n_tokens[start - 1] <= protect_tokens:
        start -= 1
        n_recent += n_tokens[start]
    first_kept = next((at for at in legal if at >= start), legal[-1])
    if all(item.category == "summary" for item in items[:first_kept]):
        return None
    return _cut_at(first_kept, n_tokens)


def _cut_at(first_kept: int, n_tokens: Sequence[int]) -> Cut:
    return Cut(
        first_kept=first_kept,
        n_tokens_replaced=sum(n_tokens[:first_kept]),
        n_tokens_kept=sum(n_tokens[first_kept:]),
    )


def find_parted_call(items: Sequence[ContextItem], first_kept: int) -> str | None:
    """Name a call before a cut whose result stands behind it; None where there is none."""
    waiting: set[str] = set()
    for at, item in enumerate(items):
        for block in item.message.blocks:
            if isinstance(block, ToolCall):
                (waiting.add if at < first_kept else waiting.discard)(block.call_id)
            elif isinstance(block, ToolResult):
                if at >= first_kept and block.call_id in waiting:
                    return block.call_id
                waiting.discard(block.call_id)
    return None


def list_open_calls(items: Sequence[ContextItem]) -> tuple[ToolCall, ...]:
    """List the calls that still wait for a result, with no user message after them."""
    last_asked = max((at for at, i in enumerate(items) if i.category == "user"), default=0)
    waiting: dict[str, ToolCall] = {}
    for item in items[last_asked:]:
        for block in item.message.blocks:
            if isinstance(block, ToolCall):
                waiting[block.call_id] = block
            elif isinstance(block, ToolResult):
                waiting.pop(block.call_id, None)
    return tuple(waiting.values())
