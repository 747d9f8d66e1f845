"""Contexts whose texts are their own sizes: `sized_result(10_000)` counts as 10,000 tokens."""

import msgspec

from factories import assistant, tool_result, user
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Image, ToolResult

PLACEHOLDER_TOKENS = 7


def count(text: str) -> int:
    """Read a number as its own size; a placeholder has 7 tokens, other text none."""
    if text.isdigit():
        return int(text)
    return PLACEHOLDER_TOKENS if text.startswith("[") else 0


def step(
    n_tokens: int, call_id: str, name: str = "bash", arguments: dict[str, object] | None = None
) -> list[ContextItem]:
    """Make an answer that calls a tool, and the tool's output."""
    call = (call_id, name, arguments if arguments is not None else {"command": f"run {call_id}"})
    return [assistant("", [call]), tool_result(str(n_tokens), call_id, name)]


def turn(*steps: list[ContextItem]) -> list[ContextItem]:
    return [user("go on"), *(item for one in steps for item in one)]


def recent_turns() -> list[ContextItem]:
    """Make the two user turns that are always protected."""
    return [*turn(), *turn()]


def with_image(item: ContextItem, n_images: int = 1) -> ContextItem:
    image = Image(media_type="image/png", size_bytes=100)
    blocks = item.message.blocks
    first = blocks[0] if blocks else None
    if isinstance(first, ToolResult):
        content = (*first.content, *[image] * n_images)
        blocks = (msgspec.structs.replace(first, content=content), *blocks[1:])
    else:
        blocks = (*blocks, *[image] * n_images)
    message = msgspec.structs.replace(item.message, blocks=blocks)
    return msgspec.structs.replace(item, message=message)
