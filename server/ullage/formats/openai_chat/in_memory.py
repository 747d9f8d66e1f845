"""Messages as OpenAI's Chat Completions API has them, and the servers that speak it too.

Beyond OpenAI's own fields: `reasoning_content` (llama.cpp, vLLM) or `reasoning` (OpenRouter,
Ollama), and what Ollama's own API has in other words, arguments as an object and `tool_name`.
A failed call is not marked in this shape.
"""

from collections.abc import Mapping

from ullage.core.transcript.context import Category
from ullage.core.transcript.injected import PREFACE, is_injected
from ullage.core.transcript.message import (
    Block,
    JsonObject,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    plain_text,
)
from ullage.formats.json_line import compact_json, object_of, objects_of, text_of
from ullage.formats.openai_chat.parts import content_of
from ullage.formats.openai_chat.prune import prune_message

__all__ = ["message_of", "prune_message", "summary_message", "summary_of"]


def message_of(native: JsonObject, tool_names: Mapping[str, str]) -> tuple[Message, Category]:
    match native.get("role"):
        case "assistant":
            return Message(role="assistant", blocks=_answer(native)), "assistant"
        case "tool":
            return Message(role="tool", blocks=(_result(native, tool_names),)), "tool results"
        case "system" | "developer":
            message = Message(role="system", blocks=content_of(native))
            return message, "injected" if is_injected(plain_text(message)) else "system"
        case _:
            message = Message(role="user", blocks=content_of(native))
    text = plain_text(message)
    if text.startswith(PREFACE):
        return message, "summary"
    return message, "injected" if is_injected(text) else "user"


def summary_of(native: JsonObject) -> str | None:
    return plain_text(Message(role="user", blocks=content_of(native))).removeprefix(PREFACE)


def summary_message(summary: str, *, n_tokens_before: int, at_ms: int) -> JsonObject:
    del n_tokens_before, at_ms  # servers refuse fields that they do not know
    return {"role": "user", "content": PREFACE + summary}


def _answer(native: JsonObject) -> tuple[Block, ...]:
    thinking = text_of(native, "reasoning_content") or text_of(native, "reasoning")
    refusal = text_of(native, "refusal")
    transcript = text_of(object_of(native, "audio") or {}, "transcript")
    return (
        *((Thinking(text=thinking),) if thinking else ()),
        *content_of(native),
        *(Text(text=text) for text in (refusal, transcript) if text),
        *map(_call, objects_of(native, "tool_calls")),
    )


def _call(call: JsonObject) -> ToolCall:
    """Read a call of a function, or of a custom tool, whose input is no JSON."""
    custom = object_of(call, "custom")
    called = custom or object_of(call, "function") or {}
    text = text_of(called, "arguments")
    if custom is not None:
        text = compact_json({"input": custom.get("input")})
    elif text is None:
        text = compact_json(called.get("arguments") or {})
    return ToolCall(
        call_id=text_of(call, "id") or "", name=text_of(called, "name") or "", arguments=text
    )


def _result(native: JsonObject, tool_names: Mapping[str, str]) -> ToolResult:
    call_id = text_of(native, "tool_call_id") or ""
    said = text_of(native, "name") or text_of(native, "tool_name")
    return ToolResult(
        call_id=call_id,
        name=tool_names.get(call_id) or said or "",
        content=content_of(native),
        is_error=False,
    )
