"""Placeholders in the content of a message, whose shape most agents share."""

from collections.abc import Callable, Sequence
from typing import cast

from ullage.core.change.edit import PRUNED_IMAGE, PRUNED_OUTPUT, Replacement
from ullage.core.transcript.message import JsonObject
from ullage.formats.json_line import as_object


def prune_content(
    native: JsonObject,
    replacements: Sequence[Replacement],
    *,
    call_id: str | None,
    is_image: Callable[[JsonObject], bool],
    key: str = "content",
    text_type: str = "text",
) -> JsonObject:
    """Put placeholders into the text or the list of parts at a key; the rest stays as it is.

    `call_id` names the call whose result it is; None for a message that is no result.
    """
    content = native.get(key)
    for replacement in replacements:
        if replacement.call_id != call_id:
            continue
        if replacement.what == "images":
            content = _without_images(content, is_image, text_type)
        elif call_id is not None:
            content = _placeholder(content, text_type)
    return native if content == native.get(key) else native | {key: content}


def _placeholder(content: object, text_type: str) -> object:
    holder = as_object(content)
    if holder is not None:
        return holder | {"content": PRUNED_OUTPUT}
    is_list = isinstance(content, list)
    return [{"type": text_type, "text": PRUNED_OUTPUT}] if is_list else PRUNED_OUTPUT


def _without_images(
    content: object, is_image: Callable[[JsonObject], bool], text_type: str
) -> object:
    holder = as_object(content)
    if holder is not None:
        return holder | {"content": _without_images(holder.get("content"), is_image, text_type)}
    if not isinstance(content, list):
        return content
    placeholder = {"type": text_type, "text": PRUNED_IMAGE}
    parts = cast(list[object], content)
    return [placeholder if is_image(as_object(part) or {}) else part for part in parts]
