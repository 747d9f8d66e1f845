"""Placeholders in response items of Codex."""

from collections.abc import Sequence
from typing import cast

from ullage.core.change.edit import PRUNED_IMAGE, PRUNED_OUTPUT, Replacement
from ullage.core.transcript.message import JsonObject
from ullage.formats.json_line import as_object, text_of


def prune_message(native: JsonObject, replacements: Sequence[Replacement]) -> JsonObject:
    """Put placeholders into a message in the agent's own shape; the rest stays as it is."""
    is_result = (text_of(native, "type") or "").endswith("_output")
    call_id = (text_of(native, "call_id") or "") if is_result else None
    key = "output" if is_result else "content"
    value = native.get(key)
    for replacement in replacements:
        if replacement.call_id != call_id:
            continue
        value = _without_images(value) if replacement.what == "images" else _placeholder(value)
    return native if value == native.get(key) else native | {key: value}


def _placeholder(output: object) -> object:
    if isinstance(output, list):
        return [_text_part(PRUNED_OUTPUT)]
    holder = as_object(output)
    if holder is not None:
        return holder | {"content": PRUNED_OUTPUT}
    return PRUNED_OUTPUT


def _without_images(value: object) -> object:
    holder = as_object(value)
    if holder is not None:
        return holder | {"content": _without_images(holder.get("content"))}
    if not isinstance(value, list):
        return value
    return [
        _text_part(PRUNED_IMAGE) if text_of(as_object(part) or {}, "image_url") else part
        for part in cast(list[object], value)
    ]


def _text_part(text: str) -> JsonObject:
    return {"type": "input_text", "text": text}
