"""Where a context may be cut: what a summary replaces, and what stays."""

from collections.abc import Sequence

import msgspec

from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.message import Thinking, ToolCall, ToolResult


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """A context parted in two: items before `first_kept` go, the others stay."""

    first_kept: int
    n_tokens_replaced: int
    n_tokens_kept: int


def find_cut(
    items: Sequence[ContextItem], n_tokens: Sequence[int], protect_tokens: int
) -> Cut | None:
    """Find the cut that keeps as much of the recent context as the protected share holds.

    `n_tokens` are the tokens of each item. Where the last messages alone are larger than the
    share, the last legal cut is taken. None where nothing would be replaced.
    """
    legal = legal_cuts(items)
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
    return Cut(
        first_kept=first_kept,
        n_tokens_replaced=sum(n_tokens[:first_kept]),
        n_tokens_kept=sum(n_tokens[first_kept:]),
    )


def legal_cuts(items: Sequence[ContextItem]) -> tuple[int, ...]:
    """List the positions before which a context may be cut, in order.

    Never between a call and its result, never within an answer, whose thinking providers want
    back with its calls, never at a summary, which always goes into the next one.
    """
    # Some agents count their calls anew in each answer: only a later result answers a call.
    answered_at = {
        block.call_id: at
        for at, item in enumerate(items)
        for block in item.message.blocks
        if isinstance(block, ToolResult)
    }
    waiting: set[str] = set()
    cuts: list[int] = []
    for at, item in enumerate(items):
        is_result = any(isinstance(block, ToolResult) for block in item.message.blocks)
        is_parted = bool(waiting) or is_result or (at > 0 and _is_one_answer(items[at - 1], item))
        if not is_parted and item.category not in ("summary", "tool results"):
            cuts.append(at)
        for block in item.message.blocks:
            if isinstance(block, ToolCall) and answered_at.get(block.call_id, -1) >= at:
                waiting.add(block.call_id)
            elif isinstance(block, ToolResult):
                waiting.discard(block.call_id)
    return tuple(cuts)


def parted_call(items: Sequence[ContextItem], first_kept: int) -> str | None:
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


def open_calls(items: Sequence[ContextItem]) -> tuple[ToolCall, ...]:
    """List the calls that still wait for their result: none that the user went on after."""
    last_asked = max((at for at, i in enumerate(items) if i.category == "user"), default=0)
    waiting: dict[str, ToolCall] = {}
    for item in items[last_asked:]:
        for block in item.message.blocks:
            if isinstance(block, ToolCall):
                waiting[block.call_id] = block
            elif isinstance(block, ToolResult):
                waiting.pop(block.call_id, None)
    return tuple(waiting.values())


def _is_one_answer(before: ContextItem, item: ContextItem) -> bool:
    """Whether two items are blocks of one answer: by their id, or a thought and what follows it."""
    if before.message.answer_id is not None and before.message.answer_id == item.message.answer_id:
        return True
    is_answer = before.category == item.category == "assistant"
    return is_answer and all(isinstance(block, Thinking) for block in before.message.blocks)
