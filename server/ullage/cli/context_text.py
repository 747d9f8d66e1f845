"""A context on a terminal, message by message."""

import click

from ullage.cli.output import safe
from ullage.core.transcript.context import HIDDEN, Context
from ullage.core.transcript.entries import Block, Image, Text, Thinking, ToolCall, ToolResult


def context_text(context: Context) -> str:
    """Write the context message by message, each under its category and entry."""
    parts: list[str] = []
    for item in context.items:
        shown = () if item.is_hidden else map(block_text, item.message.blocks)
        blocks = "\n".join(shown) or HIDDEN
        heading = click.style(f"── {item.category} · {safe(item.entry_id)} ", bold=True)
        parts.append(f"{heading}\n{safe(blocks)}")
    return "\n\n".join(parts)


def block_text(block: Block) -> str:
    match block:
        case Text():
            return block.text
        case Thinking():
            return f"[thinking] {block.text}"
        case Image():
            return f"[image {block.media_type}, {block.size_bytes:,} bytes encoded]"
        case ToolCall():
            return f"[call {block.name}] {block.arguments}"
        case ToolResult():
            inner = "\n".join(block_text(part) for part in block.content)
            return f"[{'error' if block.is_error else 'result'} {block.name}] {inner}"
