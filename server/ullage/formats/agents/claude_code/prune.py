"""Placeholders in messages of Claude Code."""

from collections.abc import Sequence
from typing import cast

from ullage.core.change.edit import PRUNED_IMAGE, PRUNED_OUTPUT, Replacement
from ullage.core.transcript.message import JsonObject
from ullage.formats.json_line import as_object, text_of

_IMAGES = ("image", "document")


def prune_message(native: JsonObject, replacements: Sequence[Replacement]) -> JsonObject:
    """Put placeholders into a message in the agent's own shape; the rest stays as it is."""
    content = native.get("content")
    if not isinstance(content, list):
        return native
    outputs = {one.call_id for one in replacements if one.what == "output"}
    images = {one.call_id for one in replacements if one.what == "images"}
    blocks = cast(list[object], content)
    pruned = [_pruned_block(block, outputs, images) for block in blocks]
    return native if pruned == blocks else native | {"content": pruned}


def _pruned_block(value: object, outputs: set[str | None], images: set[str | None]) -> object:
    block = as_object(value)
    if block is None:
        return value
    if block.get("type") != "tool_result":
        return _without_image(block) if None in images else block
    call_id = text_of(block, "tool_use_id") or ""
    content = block.get("content")
    if call_id in outputs:
        is_list = isinstance(content, list)
        return block | {"content": [_text_block(PRUNED_OUTPUT)] if is_list else PRUNED_OUTPUT}
    if call_id in images and isinstance(content, list):
        return block | {"content": [_without_image(part) for part in cast(list[object], content)]}
    return block


def _without_image(value: object) -> object:
    block = as_object(value)
    return value if block is None or block.get("type") not in _IMAGES else _text_block(PRUNED_IMAGE)


def _text_block(text: str) -> JsonObject:
    return {"type": "text", "text": text}
