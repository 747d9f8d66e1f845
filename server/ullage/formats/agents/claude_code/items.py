"""From the active conversation to the messages that Claude Code sends."""

from collections.abc import Mapping, Set

import msgspec

from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Entry
from ullage.core.transcript.message import JsonObject, ToolCall
from ullage.formats.agents.claude_code.conversation import Conversation
from ullage.formats.agents.claude_code.messages import native_of, to_message
from ullage.formats.json_line import ms_of, object_of, objects_of, texts_of

CLEARED_RESULT = "[Old tool result content cleared]"


def sent_entries(conversation: Conversation) -> tuple[Entry, ...]:
    """Put the summary first, then what the boundary preserved, then the rest."""
    summary = tuple(e for e in conversation.after if e.native.get("isCompactSummary") is True)
    rest = tuple(e for e in conversation.after if e.native.get("isCompactSummary") is not True)
    return (*summary, *conversation.preserved, *rest)


def items_of(conversation: Conversation) -> tuple[ContextItem, ...]:
    preserved_ids = {entry.entry_id for entry in conversation.preserved}
    note = conversation.pruned
    items: list[ContextItem] = []
    tool_names: dict[str, str] = {}
    cleared = frozenset(call_id for entry in conversation.after for call_id in cleared_calls(entry))
    for entry in sent_entries(conversation):
        item = item_of(entry, tool_names, cleared)
        if item is None:
            continue
        for block in item.message.blocks:
            if isinstance(block, ToolCall):
                tool_names[block.call_id] = block.name
        is_kept = note is not None and entry.offset < note.offset
        if is_kept or entry.entry_id in preserved_ids:
            item = msgspec.structs.replace(item, is_after_boundary=False)
        items.append(item)
    return tuple(items)


def item_of(
    entry: Entry, tool_names: Mapping[str, str], cleared: Set[str] = frozenset()
) -> ContextItem | None:
    """Give the message of a record that follows the boundary; None where it sends none.

    The results of `cleared` calls are sent as a placeholder.
    """
    native = native_of(entry)
    if native is None:
        return None
    if cleared:
        native = _with_cleared(native, cleared)
    message, category = to_message(entry, native, tool_names)
    return ContextItem(
        entry_id=entry.entry_id,
        message=message,
        category=category,
        native=native,
        at_ms=ms_of(entry.native),
        is_after_boundary=True,
    )


def cleared_calls(entry: Entry) -> tuple[str, ...]:
    """List the calls whose results a micro-compaction cleared, if this record is one."""
    if entry.native.get("subtype") != "microcompact_boundary":
        return ()
    metadata = object_of(entry.native, "microcompactMetadata") or {}
    return texts_of(metadata, "compactedToolIds")


def _with_cleared(native: JsonObject, cleared: Set[str]) -> JsonObject:
    blocks = objects_of(native, "content")
    if not any(block.get("tool_use_id") in cleared for block in blocks):
        return native
    content = [
        block | {"content": CLEARED_RESULT} if block.get("tool_use_id") in cleared else block
        for block in blocks
    ]
    return native | {"content": content}
