"""Items as OpenAI's Responses API has them, which Codex sends."""

from collections.abc import Mapping

from ullage.core.transcript.context import Category
from ullage.core.transcript.injected import PREFACE, is_injected
from ullage.core.transcript.message import JsonObject, Message, plain_text
from ullage.formats.agents.codex import compaction
from ullage.formats.agents.codex.messages import is_sent, to_message
from ullage.formats.agents.codex.prune import prune_message

__all__ = ["message_of", "prune_message", "summary_message", "summary_of"]


def message_of(native: JsonObject, tool_names: Mapping[str, str]) -> tuple[Message, Category]:
    if not is_sent(native):
        return Message(role="system", blocks=()), "system"
    # The API takes a message without its type as well.
    message, category = to_message(native if "type" in native else _typed(native), tool_names)
    text = plain_text(message) if category == "user" else ""
    if text.startswith(PREFACE):
        return message, "summary"
    return message, "injected" if is_injected(text) else category


def summary_of(native: JsonObject) -> str | None:
    message, _ = to_message(_typed(native), {})
    return plain_text(message).removeprefix(PREFACE)


def summary_message(summary: str, *, n_tokens_before: int, at_ms: int) -> JsonObject:
    del n_tokens_before, at_ms  # the API refuses fields that it does not know
    return compaction.summary_message(PREFACE + summary)


def _typed(native: JsonObject) -> JsonObject:
    return native | {"type": "message"}
