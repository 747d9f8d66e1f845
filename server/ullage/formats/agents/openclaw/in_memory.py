"""Messages as pi and OpenClaw hold them in memory."""

from collections.abc import Mapping

from ullage.core.transcript.context import Category
from ullage.core.transcript.injected import is_injected
from ullage.core.transcript.message import JsonObject, Message, plain_text
from ullage.formats.agents.openclaw.messages import to_message
from ullage.formats.agents.openclaw.prune import prune_message
from ullage.formats.json_line import text_of

__all__ = ["message_of", "prune_message", "summary_message", "summary_of"]


def message_of(native: JsonObject, tool_names: Mapping[str, str]) -> tuple[Message, Category]:
    del tool_names  # a result of pi names its tool
    message, category = to_message(native)
    if category == "user" and is_injected(plain_text(message)):
        category = "injected"
    return message, category


def summary_of(native: JsonObject) -> str | None:
    """Give a compaction's summary; that of a branch is of the same category."""
    if native.get("role") != "compactionSummary":
        return None
    return text_of(native, "summary") or ""


def summary_message(summary: str, *, n_tokens_before: int, at_ms: int) -> JsonObject:
    return {
        "role": "compactionSummary",
        "summary": summary,
        "tokensBefore": n_tokens_before,
        "timestamp": at_ms,
    }
