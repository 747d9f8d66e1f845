"""From the active conversation to the messages that Claude Code sends."""

from collections.abc import Mapping

import msgspec

from ullage.core.context import ContextItem
from ullage.core.message import ToolCall
from ullage.core.transcript import Entry
from ullage.formats.claude_code.conversation import Conversation
from ullage.formats.claude_code.messages import native_of, to_message
from ullage.formats.json_line import ms_of


def items_of(conversation: Conversation) -> tuple[ContextItem, ...]:
    """Put the summary first, then what the boundary preserved, then the rest."""
    summary = tuple(e for e in conversation.after if e.native.get("isCompactSummary") is True)
    rest = tuple(e for e in conversation.after if e.native.get("isCompactSummary") is not True)
    preserved_ids = {entry.entry_id for entry in conversation.preserved}
    items: list[ContextItem] = []
    tool_names: dict[str, str] = {}
    for entry in (*summary, *conversation.preserved, *rest):
        item = item_of(entry, tool_names)
        if item is None:
            continue
        for block in item.message.blocks:
            if isinstance(block, ToolCall):
                tool_names[block.call_id] = block.name
        if entry.entry_id in preserved_ids:
            item = msgspec.structs.replace(item, is_after_boundary=False)
        items.append(item)
    return tuple(items)


def item_of(entry: Entry, tool_names: Mapping[str, str]) -> ContextItem | None:
    """Give the message of a record that follows the boundary; None where it sends none."""
    native = native_of(entry)
    if native is None:
        return None
    message, category = to_message(entry, native, tool_names)
    return ContextItem(
        entry_id=entry.entry_id,
        message=message,
        category=category,
        native=native,
        at_ms=ms_of(entry.native),
        is_after_boundary=True,
    )
