"""Whether an agent waits for its user, by the last message of its context."""

from collections.abc import Collection, Sequence

import msgspec

from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Text, ToolCall


class TurnEnd(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that nothing follows before its user says something."""

    entry_id: str
    asks: bool
    """Whether the agent asks something; else it is done."""


def find_turn_end(items: Sequence[ContextItem], asking_tools: Collection[str]) -> TurnEnd | None:
    """Give the end of the turn; None while the agent works.

    Of an answer whose record does not say whether it ends the turn, the calls that it lacks do:
    an agent that streams may write one a moment later.
    """
    last = items[-1] if items else None
    if last is None or last.message.role != "assistant":
        return None
    calls = [block for block in last.message.blocks if isinstance(block, ToolCall)]
    if calls:
        asks = any(call.name in asking_tools for call in calls)
        return TurnEnd(entry_id=last.entry_id, asks=True) if asks else None
    has_said = any(isinstance(block, Text) for block in last.message.blocks)
    if last.message.ends_turn is False or not has_said:
        return None
    return TurnEnd(entry_id=last.entry_id, asks=False)
