"""Tokens of messages, given a way to count those of a text."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.message import (
    Block,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

Count: TypeAlias = Callable[[str], int]
"""Counts the tokens of a text."""

IMAGE_TOKENS = 1200
"""What an image costs, whatever its size (pi 0.87.1: 4,800 characters by four)."""


def estimate(text: str) -> int:
    """Estimate without a tokenizer: four characters a token, rounded up."""
    return -(-len(text) // 4)


def count_items(items: Iterable[ContextItem], count: Count) -> int:
    return sum(count_message(item.message, count) for item in items)


def count_message(message: Message, count: Count) -> int:
    return sum(_count_block(block, count) for block in message.blocks)


def _count_block(block: Block, count: Count) -> int:
    match block:
        case Text() | Thinking():
            return count(block.text)
        case Image():
            return IMAGE_TOKENS
        case ToolCall():
            return count(block.name) + count(block.arguments)
        case ToolResult():
            return sum(_count_block(part, count) for part in block.content)
