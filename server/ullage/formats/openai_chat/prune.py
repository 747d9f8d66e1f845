"""Placeholders in chat messages."""

from collections.abc import Sequence
from typing import cast

from ullage.core.change.edit import PRUNED_IMAGE, PRUNED_OUTPUT, Replacement
from ullage.core.transcript.message import JsonObject
from ullage.formats.json_line import as_object, text_of
from ullage.formats.openai_chat.parts import is_media


def prune_message(native: JsonObject, replacements: Sequence[Replacement]) -> JsonObject:
    """Put placeholders into a message; the rest stays as it is."""
    is_result = native.get("role") == "tool"
    call_id = (text_of(native, "tool_call_id") or "") if is_result else None
    content = native.get("content")
    for replacement in replacements:
        if replacement.call_id == call_id:
            is_output = replacement.what == "output"
            content = _placeholder(content) if is_output else _without_images(content)
    return native if content == native.get("content") else native | {"content": content}


def _placeholder(content: object) -> object:
    return [_text_part(PRUNED_OUTPUT)] if isinstance(content, list) else PRUNED_OUTPUT


def _without_images(content: object) -> object:
    if not isinstance(content, list):
        return content
    return [
        _text_part(PRUNED_IMAGE) if is_media(as_object(part) or {}) else part
        for part in cast(list[object], content)
    ]


def _text_part(text: str) -> JsonObject:
    return {"type": "text", "text": text}
