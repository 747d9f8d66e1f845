"""Messages without their secrets: what everything is made from that leaves a transcript.

Masked before anything is selected or cut: the half of a token that a cut leaves is not told for
one any more.
"""

from collections.abc import Iterable

import msgspec

from ullage.core.secrets.scan import mask
from ullage.core.transcript.context import Context, ContextItem
from ullage.core.transcript.message import (
    Block,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)


def mask_context(context: Context, known: tuple[str, ...]) -> Context:
    return msgspec.structs.replace(context, items=mask_items(context.items, known))


def mask_items(items: Iterable[ContextItem], known: tuple[str, ...]) -> tuple[ContextItem, ...]:
    """Mask the texts of messages; their native forms, which stay in the transcript, are kept."""
    return tuple(
        msgspec.structs.replace(item, message=_mask_message(item.message, known)) for item in items
    )


def _mask_message(message: Message, known: tuple[str, ...]) -> Message:
    blocks = tuple(_mask_block(block, known) for block in message.blocks)
    return msgspec.structs.replace(message, blocks=blocks)


def _mask_block(block: Block, known: tuple[str, ...]) -> Block:
    match block:
        case Text():
            return Text(text=mask(block.text, known))
        case Thinking():
            return Thinking(text=mask(block.text, known))
        case Image():
            return block
        case ToolCall():
            return msgspec.structs.replace(block, arguments=mask(block.arguments, known))
        case ToolResult():
            content = tuple(
                Text(text=mask(part.text, known)) if isinstance(part, Text) else part
                for part in block.content
            )
            return msgspec.structs.replace(block, content=content)
