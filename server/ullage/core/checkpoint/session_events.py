"""Events of a session, told from its messages as a transcript has them."""

from collections.abc import Iterable, Iterator, Sequence

from ullage.core.checkpoint.working_state import Event, MessageEvent, ToolEvent
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.message import ToolCall, ToolResult, plain_text, result_text


def events_of(items: Sequence[ContextItem], places: Iterable[int]) -> Iterator[Event]:
    """Give what the messages at some places of a context say and do.

    What a compaction or a prune left is passed over: it happened before.
    """
    for place in places:
        item = items[place]
        if not item.is_after_boundary:
            continue
        if item.category in ("user", "assistant"):
            role = "user" if item.category == "user" else "agent"
            yield MessageEvent(role=role, text=plain_text(item.message), at_ms=item.at_ms)
        for block in item.message.blocks:
            if isinstance(block, ToolResult):
                yield _finished(block, _call_of(block, items, place), item.at_ms)


def _call_of(result: ToolResult, items: Sequence[ContextItem], place: int) -> ToolCall | None:
    """Find the call that a result answers; mostly in the message before it."""
    for at in range(place - 1, -1, -1):
        for block in items[at].message.blocks:
            if isinstance(block, ToolCall) and block.call_id == result.call_id:
                return block
    return None


def _finished(result: ToolResult, call: ToolCall | None, at_ms: int | None) -> ToolEvent:
    return ToolEvent(
        call_id=result.call_id,
        name=result.name or (call.name if call else ""),
        arguments=call.arguments if call else "{}",
        is_error=result.is_error,
        error=result_text(result) if result.is_error else "",
        at_ms=at_ms,
    )
