"""Messages: what a model is sent or answers, in one shape for every agent."""

from typing import Literal, TypeAlias

import msgspec

Role: TypeAlias = Literal["user", "assistant", "tool", "system"]
MessageFormat: TypeAlias = Literal["openclaw", "claude-code", "codex", "openai-chat"]
"""Shape of the messages that a runtime holds: those of pi, of Anthropic's Messages, of OpenAI's
Responses (items), of OpenAI's chat completions."""
JsonObject: TypeAlias = dict[str, object]
"""A JSON object kept as an agent wrote it; only the adapter that made it looks inside."""


class Text(msgspec.Struct, frozen=True, kw_only=True, tag="text"):
    text: str


class Thinking(msgspec.Struct, frozen=True, kw_only=True, tag="thinking"):
    text: str


class Image(msgspec.Struct, frozen=True, kw_only=True, tag="image"):
    media_type: str
    size_bytes: int
    """Length of the encoded data as it stands in the transcript."""


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, tag="tool_call"):
    call_id: str
    name: str
    arguments: str
    """The arguments as JSON text, keys in the agent's order."""


class ToolResult(msgspec.Struct, frozen=True, kw_only=True, tag="tool_result"):
    call_id: str
    name: str
    """Empty where the agent's format does not repeat it."""
    content: tuple[Text | Image, ...]
    is_error: bool


Block: TypeAlias = Text | Thinking | Image | ToolCall | ToolResult


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one answer as its provider reported them."""

    n_input: int
    """Fresh input, without what came from or went to the cache."""
    n_output: int
    n_cache_read: int
    n_cache_write: int
    n_total: int
    """What the next request sends again: input, cache and output together."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    role: Role
    blocks: tuple[Block, ...]
    model: str | None = None
    usage: Usage | None = None
    """Absent for failed and aborted answers, whose figures are zero."""
    answer_id: str | None = None
    """One answer of the API may stand on several entries; they share this id."""


def plain_text(message: Message) -> str:
    """Join the text blocks of a message, without thinking, calls and results."""
    return "\n".join(block.text for block in message.blocks if isinstance(block, Text))


def result_text(result: ToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, Text))
