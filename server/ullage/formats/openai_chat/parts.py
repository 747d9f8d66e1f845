"""The content of a chat message: a text, or a list of parts."""

import re

from ullage.core.transcript.message import Image, JsonObject, Text
from ullage.formats.json_line import compact_json, object_of, objects_of, text_of

_DATA_KEYS = {"image_url": "url", "input_audio": "data", "file": "file_data"}
"""Where parts have their encoded data, by their type, whose name is also their own key."""
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)[;,]")


def content_of(native: JsonObject) -> tuple[Text | Image, ...]:
    text = text_of(native, "content")
    if text is not None:
        return (Text(text=text),) if text else ()
    return tuple(map(_part, objects_of(native, "content")))


def is_media(part: JsonObject) -> bool:
    """Whether a part is an image, or a recording or file, which are treated like one."""
    return part.get("type") in _DATA_KEYS


def _part(part: JsonObject) -> Text | Image:
    """Read a part; one that is not known counts as the JSON that it is."""
    if not is_media(part):
        text = text_of(part, "text") or text_of(part, "refusal")
        return Text(text=compact_json(part) if text is None else text)
    kind = text_of(part, "type") or ""
    # Some servers take an image's address without an object around it.
    data = text_of(object_of(part, kind) or {}, _DATA_KEYS[kind]) or text_of(part, kind) or ""
    found = _DATA_URL.match(data)
    return Image(media_type=found[1] if found else "", size_bytes=len(data))
