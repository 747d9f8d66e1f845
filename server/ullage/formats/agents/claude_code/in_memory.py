"""Messages as Anthropic's Messages API has them: `role`, `content`, and what an answer adds."""

from collections.abc import Mapping

from ullage.core.transcript.context import Category
from ullage.core.transcript.injected import PREFACE, is_injected
from ullage.core.transcript.message import JsonObject, Message, ToolResult, plain_text
from ullage.formats.agents.claude_code.messages import content_of, usage_of
from ullage.formats.agents.claude_code.prune import prune_message
from ullage.formats.json_line import text_of

__all__ = ["message_of", "prune_message", "summary_message", "summary_of"]


def message_of(native: JsonObject, tool_names: Mapping[str, str]) -> tuple[Message, Category]:
    blocks = content_of(native, tool_names)
    if native.get("role") == "assistant":
        message = Message(
            role="assistant",
            blocks=blocks,
            model=text_of(native, "model"),
            usage=usage_of(native),
            answer_id=text_of(native, "id"),
        )
        return message, "assistant"
    if native.get("role") == "system":
        return Message(role="system", blocks=blocks), "system"
    message = Message(role="user", blocks=blocks)
    text = plain_text(message)
    if any(isinstance(block, ToolResult) for block in blocks):
        return message, "tool results"
    if text.startswith(PREFACE):
        return message, "summary"
    return message, "injected" if is_injected(text) else "user"


def summary_of(native: JsonObject) -> str | None:
    return plain_text(Message(role="user", blocks=content_of(native, {}))).removeprefix(PREFACE)


def summary_message(summary: str, *, n_tokens_before: int, at_ms: int) -> JsonObject:
    del n_tokens_before, at_ms  # the API refuses fields that it does not know
    return {"role": "user", "content": PREFACE + summary}
