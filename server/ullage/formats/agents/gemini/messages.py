"""Parts of Gemini's messages: what they say, and the shape that the core gives them."""

from collections.abc import Sequence
from typing import cast

from msgspec import structs

from ullage.core.change.edit import PRUNED_IMAGE, PRUNED_OUTPUT, Replacement
from ullage.core.transcript.entries import Block, Image, JsonObject, Text, ToolCall, ToolResult
from ullage.formats.in_memory import prune_parts
from ullage.formats.json_line import as_object, compact_json, object_of, objects_of, text_of
from ullage.formats.speech import OWN_OPENINGS, SpeechMarks, make_speech

MARKS = SpeechMarks(
    openings=(
        *OWN_OPENINGS,
        "<session_context>",
        "System: Please continue.",
        "System: Potential loop detected.",
        "I ran the following shell command:\n```",
    ),
    tags={"hook_context": "harness", "state_snapshot": "summary"},
)
_FILES = "--- Content from referenced files ---"
_END_OF_FILES = "--- End of content ---"


def parts_of(record: JsonObject) -> list[JsonObject]:
    """List the parts of a content, which may be a text, a part, or a list of both.

    Thoughts are left out: the agent does not send them again.
    """
    return [part for part in list_parts(record.get("content")) if part.get("thought") is not True]


def list_parts(content: object) -> list[JsonObject]:
    """Give a content as a list of parts."""
    values = cast(list[object], content) if isinstance(content, list) else [content]
    parts = (as_object({"text": value} if isinstance(value, str) else value) for value in values)
    return [part for part in parts if part and part != {"text": ""}]


def text_in(record: JsonObject) -> str:
    return "\n".join(text_of(part, "text") or "" for part in parts_of(record))


def call_parts(record: JsonObject) -> list[JsonObject]:
    """Give the calls that stand beside a content, as the agent does when it resumes."""
    held = {text_of(object_of(p, "functionCall") or {}, "id") for p in parts_of(record)}
    parts: list[JsonObject] = []
    for call in objects_of(record, "toolCalls"):
        call_id = text_of(call, "id")
        if call_id is None or call_id not in held:
            named = {key: call[key] for key in ("id", "name", "args") if key in call}
            parts.append({"functionCall": named})
    return parts


def result_parts(record: JsonObject, answered_ids: set[str]) -> list[JsonObject]:
    """Give the results that stand beside calls and that no message of their own answers."""
    parts: list[JsonObject] = []
    for call in objects_of(record, "toolCalls"):
        result = call.get("result")
        if not result or text_of(call, "id") in answered_ids:
            continue
        if isinstance(result, str):
            named = {key: call[key] for key in ("id", "name") if key in call}
            parts.append({"functionResponse": named | {"response": {"output": result}}})
        else:
            parts.extend(list_parts(result))
    return parts


def answered_ids(parts: list[JsonObject]) -> set[str]:
    """List the calls that parts answer."""
    responses = (object_of(part, "functionResponse") or {} for part in parts)
    return {call_id for r in responses if (call_id := text_of(r, "id")) is not None}


def to_block(part: JsonObject) -> Block:
    """Give a part's block; one of an unknown kind counts as the JSON that it is."""
    text = text_of(part, "text")
    if text is not None:
        return Text(text=text)
    call = object_of(part, "functionCall")
    if call is not None:
        return ToolCall(
            call_id=text_of(call, "id") or "",
            name=text_of(call, "name") or "",
            arguments=compact_json(call.get("args", {})),
        )
    response = object_of(part, "functionResponse")
    if response is not None:
        return _tool_result(response)
    return _image(part) or Text(text=compact_json(part))


def attribute(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Say who speaks in each text of a user's message; files that it names follow its words."""
    attributed: list[Block] = []
    is_file = False
    for block in blocks:
        if not isinstance(block, Text):
            attributed.append(block)
            continue
        own, start, shown = ("", "", block.text) if is_file else block.text.partition(_FILES)
        if not is_file and not start:
            speech = MARKS.split(block.text)
        else:
            file, end, rest = shown.partition(_END_OF_FILES)
            is_file = not end
            parts = make_speech(("typed", own), ("pasted", file), ("typed", rest))
            speech = parts or make_speech(("harness", block.text))
        attributed.append(structs.replace(block, speech=speech))
    return tuple(attributed)


def prune_message(native: JsonObject, replacements: Sequence[Replacement]) -> JsonObject:
    """Put placeholders into a message; in memory only, for its files are not ours to write."""
    return prune_parts(native, replacements, _prune_part)


def _image(part: JsonObject) -> Image | None:
    data = object_of(part, "inlineData")
    if data is None:
        return None
    size_bytes = len(text_of(data, "data") or "")
    return Image(media_type=text_of(data, "mimeType") or "", size_bytes=size_bytes)


def _tool_result(response: JsonObject) -> ToolResult:
    answer = object_of(response, "response") or {}
    error, output = answer.get("error"), answer.get("output")
    is_error = error is not None
    value = error if is_error else answer if output is None else output
    text = value if isinstance(value, str) else compact_json(value)
    images = tuple(image for part in objects_of(response, "parts") if (image := _image(part)))
    return ToolResult(
        call_id=text_of(response, "id") or "",
        name=text_of(response, "name") or "",
        content=(Text(text=text), *images),
        is_error=is_error,
    )


def _prune_part(part: JsonObject, outputs: set[str | None], images: set[str | None]) -> JsonObject:
    response = object_of(part, "functionResponse")
    if response is None:
        return _without_image(part) if None in images else part
    call_id = text_of(response, "id") or ""
    if call_id in outputs:
        key = "error" if (object_of(response, "response") or {}).get("error") else "output"
        kept = {name: value for name, value in response.items() if name != "parts"}
        return part | {"functionResponse": kept | {"response": {key: PRUNED_OUTPUT}}}
    if call_id in images and "parts" in response:
        parts = [_without_image(returned) for returned in objects_of(response, "parts")]
        return part | {"functionResponse": response | {"parts": parts}}
    return part


def _without_image(part: JsonObject) -> JsonObject:
    return part if object_of(part, "inlineData") is None else {"text": PRUNED_IMAGE}
