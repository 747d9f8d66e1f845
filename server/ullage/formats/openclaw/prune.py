"""Placeholders in messages of pi and OpenClaw, and the record that a prune leaves on disk."""

from collections.abc import Sequence
from typing import cast

from ullage.core.context import Context, PruneRecord
from ullage.core.edit import PRUNED_IMAGE, PRUNED_OUTPUT, PruneEdit, Replacement
from ullage.core.message import Image, JsonObject, ToolResult
from ullage.core.transcript import Entry
from ullage.formats.json_line import as_object, int_of, ms_of, object_of, text_of

PRUNE_TYPE = "ullage.prune"
_RESULT_ROLES = ("toolResult", "tool")


def prune_message(native: JsonObject, replacements: Sequence[Replacement]) -> JsonObject:
    """Put placeholders into a message in the agent's own shape; the rest stays as it is."""
    content = native.get("content")
    is_result = native.get("role") in _RESULT_ROLES
    call_id = (text_of(native, "toolCallId") or "") if is_result else None
    for replacement in replacements:
        if replacement.call_id != call_id:
            continue
        if replacement.what == "images":
            content = _without_images(content)
        elif is_result:
            content = PRUNED_OUTPUT if isinstance(content, str) else [_text_block(PRUNED_OUTPUT)]
    return native if content == native.get("content") else native | {"content": content}


def prune_data(context: Context, edit: PruneEdit, offsets: Sequence[int]) -> JsonObject:
    """Note a prune as its record keeps it.

    `offsets` are those of the changed lines in the file before; they tell one prune from another.
    """
    return {
        "by": "ullage",
        "version": 1,
        "tokensBefore": edit.n_tokens_before,
        "tokensAfter": edit.n_tokens_after,
        "pruned": _n_pruned(context, edit.replacements),
        "offsets": list(offsets),
    }


def to_prune_record(entry: Entry) -> PruneRecord | None:
    """Read the record of a prune; None for every other entry."""
    if PRUNE_TYPE not in (entry.kind, entry.native.get("customType")):
        return None
    data = object_of(entry.native, "data") or {}
    return PruneRecord(
        entry_id=entry.entry_id,
        at_ms=ms_of(entry.native),
        n_tokens_before=int_of(data, "tokensBefore"),
        n_tokens_after=int_of(data, "tokensAfter"),
        n_pruned=int_of(data, "pruned") or 0,
    )


def _without_images(content: object) -> object:
    if not isinstance(content, list):
        return content
    blocks = cast(list[object], content)
    return [
        _text_block(PRUNED_IMAGE) if (as_object(block) or {}).get("type") == "image" else block
        for block in blocks
    ]


def _text_block(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _n_pruned(context: Context, replacements: Sequence[Replacement]) -> int:
    n_images = {
        item.entry_id: sum(
            isinstance(part, Image)
            for block in item.message.blocks
            for part in (block.content if isinstance(block, ToolResult) else (block,))
        )
        for item in context.items
    }
    return sum(n_images.get(one.entry_id, 0) if one.what == "images" else 1 for one in replacements)
