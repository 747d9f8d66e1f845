"""Placeholders in messages of opencode; in memory only, for its database is not ours to write."""

from collections.abc import Sequence

from ullage.core.change.edit import PRUNED_IMAGE, PRUNED_OUTPUT, Replacement
from ullage.core.transcript.message import JsonObject
from ullage.formats.agents.opencode.messages import UNSENT_FILES
from ullage.formats.json_line import object_of, objects_of, text_of

_NO_FILES: JsonObject = {"attachments": list[object]()}
_IDS = ("id", "sessionID", "messageID")


def prune_message(native: JsonObject, replacements: Sequence[Replacement]) -> JsonObject:
    """Put placeholders into a message in the agent's own shape; the rest stays as it is.

    One message holds a whole answer with its calls: all replacements in it go in together.
    """
    parts = objects_of(native, "parts")
    outputs = {one.call_id for one in replacements if one.what == "output"}
    images = {one.call_id for one in replacements if one.what == "images"}
    pruned = tuple(_pruned_part(part, outputs, images) for part in parts)
    return native if pruned == parts else native | {"parts": list(pruned)}


def _pruned_part(part: JsonObject, outputs: set[str | None], images: set[str | None]) -> JsonObject:
    if part.get("type") == "file" and None in images:
        if text_of(part, "mime") in UNSENT_FILES:
            return part
        ids = {key: part[key] for key in _IDS if key in part}
        return ids | {"type": "text", "text": PRUNED_IMAGE}
    state = object_of(part, "state")
    if part.get("type") != "tool" or state is None:
        return part
    call_id = text_of(part, "callID") or ""
    if call_id in outputs:
        return part | {"state": _without_output(state)}
    files = objects_of(state, "attachments")
    if call_id in images and files:
        texts = [text_of(state, "output") or "", *(PRUNED_IMAGE for _ in files)]
        return part | {"state": state | {"output": "\n".join(texts)} | _NO_FILES}
    return part


def _without_output(state: JsonObject) -> JsonObject:
    pruned = state | _NO_FILES if "attachments" in state else dict(state)
    if "output" in state:
        pruned["output"] = PRUNED_OUTPUT
    if "error" in state:
        pruned["error"] = PRUNED_OUTPUT
    metadata = object_of(state, "metadata") or {}
    if "output" in metadata:
        # What a command had said before it was interrupted.
        pruned["metadata"] = metadata | {"output": PRUNED_OUTPUT}
    return pruned
