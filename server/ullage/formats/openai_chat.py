"""Messages as OpenAI's Chat Completions API has them, and the servers that speak it too.

Beyond OpenAI's own fields: `reasoning_content` (llama.cpp, vLLM) or `reasoning` (OpenRouter,
Ollama), and what Ollama's own API has in other words, arguments as an object and `tool_name`.
A failed call is not marked in this shape.
"""

import re
from collections.abc import Mapping, Sequence

from ullage.core.change.edit import Replacement
from ullage.core.transcript import entries
from ullage.core.transcript.context import PREFACE, Category
from ullage.formats.in_memory import MessageShape, prune_content
from ullage.formats.json_line import compact_json, object_of, objects_of, text_of
from ullage.formats.speech import COMMON_MARKS, attribute, is_harness

_DATA_KEYS = {"image_url": "url", "input_audio": "data", "file": "file_data"}
"""Where parts have their encoded data, by their type, whose name is also their own key."""
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)[;,]")


def message_of(
    native: entries.JsonObject, tool_names: Mapping[str, str]
) -> tuple[entries.Message, Category]:
    match native.get("role"):
        case "assistant":
            return entries.Message(role="assistant", blocks=_answer(native)), "assistant"
        case "tool":
            return entries.Message(
                role="tool", blocks=(_result(native, tool_names),)
            ), "tool results"
        case "system" | "developer":
            message = entries.Message(role="system", blocks=_content(native))
            is_ours = is_harness(attribute(message.blocks, COMMON_MARKS))
            return message, "injected" if is_ours else "system"
        case _:
            blocks = attribute(_content(native), COMMON_MARKS)
            message = entries.Message(role="user", blocks=blocks)
    text = entries.plain_text(message)
    if text.startswith(PREFACE):
        return message, "summary"
    return message, "injected" if is_harness(message.blocks) else "user"


def summary_of(native: entries.JsonObject) -> str | None:
    return entries.plain_text(entries.Message(role="user", blocks=_content(native))).removeprefix(
        PREFACE
    )


def prune_message(
    native: entries.JsonObject, replacements: Sequence[Replacement]
) -> entries.JsonObject:
    """Put placeholders into a message; the rest stays as it is."""
    is_result = native.get("role") == "tool"
    call_id = (text_of(native, "tool_call_id") or "") if is_result else None
    return prune_content(native, replacements, call_id=call_id, is_image=_is_media)


OPENAI_CHAT = MessageShape(
    message_of=message_of,
    summary_of=summary_of,
    prune_message=prune_message,
)


def _answer(native: entries.JsonObject) -> tuple[entries.Block, ...]:
    thinking = text_of(native, "reasoning_content") or text_of(native, "reasoning")
    refusal = text_of(native, "refusal")
    transcript = text_of(object_of(native, "audio") or {}, "transcript")
    return (
        *((entries.Thinking(text=thinking),) if thinking else ()),
        *_content(native),
        *(entries.Text(text=text) for text in (refusal, transcript) if text),
        *map(_call, objects_of(native, "tool_calls")),
    )


def _call(call: entries.JsonObject) -> entries.ToolCall:
    """Read a call of a function, or of a custom tool, whose input is no JSON."""
    custom = object_of(call, "custom")
    called = custom or object_of(call, "function") or {}
    text = text_of(called, "arguments")
    if custom is not None:
        text = compact_json({"input": custom.get("input")})
    elif text is None:
        text = compact_json(called.get("arguments") or {})
    return entries.ToolCall(
        call_id=text_of(call, "id") or "", name=text_of(called, "name") or "", arguments=text
    )


def _result(native: entries.JsonObject, tool_names: Mapping[str, str]) -> entries.ToolResult:
    call_id = text_of(native, "tool_call_id") or ""
    name = text_of(native, "name") or text_of(native, "tool_name")
    return entries.ToolResult(
        call_id=call_id,
        name=tool_names.get(call_id) or name or "",
        content=_content(native),
        is_error=False,
    )


def _content(native: entries.JsonObject) -> tuple[entries.Text | entries.Image, ...]:
    text = text_of(native, "content")
    if text is not None:
        return (entries.Text(text=text),) if text else ()
    return tuple(map(_part, objects_of(native, "content")))


def _is_media(part: entries.JsonObject) -> bool:
    """Whether a part is an image, or a recording or file, which are treated like one."""
    return part.get("type") in _DATA_KEYS


def _part(part: entries.JsonObject) -> entries.Text | entries.Image:
    """Read a part; one that is not known counts as the JSON that it is."""
    if not _is_media(part):
        text = text_of(part, "text") or text_of(part, "refusal")
        return entries.Text(text=compact_json(part) if text is None else text)
    kind = text_of(part, "type") or ""
    # Some servers take an image's address without an object around it.
    data = text_of(object_of(part, kind) or {}, _DATA_KEYS[kind]) or text_of(part, kind) or ""
    match = _DATA_URL.match(data)
    return entries.Image(media_type=match[1] if match else "", size_bytes=len(data))
