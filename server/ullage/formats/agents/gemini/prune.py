"""Placeholders in contents of Gemini; in memory only, for its files are not ours to write."""

from collections.abc import Sequence

from ullage.core.change.edit import PRUNED_IMAGE, PRUNED_OUTPUT, Replacement
from ullage.core.transcript.message import JsonObject
from ullage.formats.json_line import object_of, objects_of, text_of


def prune_message(native: JsonObject, replacements: Sequence[Replacement]) -> JsonObject:
    """Put placeholders into a message in the agent's own shape; the rest stays as it is."""
    parts = objects_of(native, "parts")
    outputs = {one.call_id for one in replacements if one.what == "output"}
    images = {one.call_id for one in replacements if one.what == "images"}
    pruned = tuple(_pruned_part(part, outputs, images) for part in parts)
    return native if pruned == parts else native | {"parts": list(pruned)}


def _pruned_part(part: JsonObject, outputs: set[str | None], images: set[str | None]) -> JsonObject:
    response = object_of(part, "functionResponse")
    if response is None:
        return _without_image(part) if None in images else part
    call_id = text_of(response, "id") or ""
    if call_id in outputs:
        key = "error" if (object_of(response, "response") or {}).get("error") else "output"
        kept = {name: value for name, value in response.items() if name != "parts"}
        return part | {"functionResponse": kept | {"response": {key: PRUNED_OUTPUT}}}
    if call_id in images and "parts" in response:
        parts = [_without_image(one) for one in objects_of(response, "parts")]
        return part | {"functionResponse": response | {"parts": parts}}
    return part


def _without_image(part: JsonObject) -> JsonObject:
    return part if object_of(part, "inlineData") is None else {"text": PRUNED_IMAGE}
