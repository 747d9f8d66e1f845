"""What memory handed out, wherever it turns up in a session: nothing of it is learned again.

Each such text stands in an element of one name. No text in it can end the element, as it holds
no `<` before a name (`core.memory.quoted`). Programs cut what they show, and agents write it as
JSON or quote it: the beginning or the end alone is enough.
"""

import re
from collections.abc import Iterator

import msgspec

from ullage.core.transcript import entries
from ullage.core.transcript.context import ContextItem

MEMORY_TAG = "ullage-memory"
LEFT_OUT = "[recalled from memory]"
_LINE_END = r"(?:\n|(?<!\\)\\+n)"
"""A run of backslashes is read from its beginning alone: from each, it would cost its square."""
_CLOSING = rf"{_LINE_END}[> \t]*</{MEMORY_TAG}>"
_WHOLE = re.compile(rf"<{MEMORY_TAG}>(?={_LINE_END}).*?(?:{_CLOSING}|\Z)", re.DOTALL)
_TAIL = re.compile(rf"\A.*{_CLOSING}", re.DOTALL)


def fence_recalled(text: str) -> str:
    """Mark a text as handed out by memory; `text` holds no such element."""
    return f"<{MEMORY_TAG}>\n{text}\n</{MEMORY_TAG}>"


def list_recalled(item: ContextItem) -> Iterator[str]:
    """Give what memory handed out in a message."""
    for block in item.message.blocks:
        match block:
            case entries.Text():
                yield from find_recalled(block.text)
            case entries.ToolResult():
                yield from find_recalled(entries.result_text(block))
            case _:
                pass


def find_recalled(text: str) -> Iterator[str]:
    """Give the parts of a text that memory handed out."""
    if MEMORY_TAG in text:
        yield from _WHOLE.findall(text)
        if tail := _TAIL.match(_WHOLE.sub("", text)):
            yield tail[0]


def cut_recalled(text: str, instead: str = "") -> str:
    """Leave out what memory handed out."""
    if MEMORY_TAG not in text:
        return text
    return _TAIL.sub(instead, _WHOLE.sub(instead, text))


def leave_out_recalled(item: ContextItem) -> ContextItem:
    """Give a message without what memory handed out; its native form is kept."""
    blocks = tuple(map(_cut_block, item.message.blocks))
    queued = tuple(map(cut_recalled, item.queued))
    if blocks == item.message.blocks and queued == item.queued:
        return item
    message = msgspec.structs.replace(item.message, blocks=blocks)
    return msgspec.structs.replace(item, message=message, queued=queued)


def _cut_block(block: entries.Block) -> entries.Block:
    match block:
        case entries.Text():
            return _cut_text(block, "")
        case entries.Thinking():
            return msgspec.structs.replace(block, text=cut_recalled(block.text))
        case entries.ToolCall():
            return msgspec.structs.replace(block, arguments=cut_recalled(block.arguments, LEFT_OUT))
        case entries.ToolResult():
            content = tuple(
                _cut_text(part, LEFT_OUT) if isinstance(part, entries.Text) else part
                for part in block.content
            )
            return msgspec.structs.replace(block, content=content)
        case entries.Image():
            return block


def _cut_text(text: entries.Text, instead: str) -> entries.Text:
    speech = tuple(
        msgspec.structs.replace(part, text=cut_recalled(part.text, instead)) for part in text.speech
    )
    return msgspec.structs.replace(text, text=cut_recalled(text.text, instead), speech=speech)
