"""Where the lines of a summary come from: the message that holds the words of each.

Words are looked for rather than noted as a summary is written: so the lines of a model's, those
that an audit put in and those that a user typed are tied too, and none to what does not say it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from ullage.core.facts.summary_sections import remove_point_mark
from ullage.core.facts.tool_calls import list_new_texts, read_call
from ullage.core.summary.extract import normalize_line
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Text, ToolCall, ToolResult, result_text

_PARTS = re.compile(r" → |…|[“”]|(?<=[.!?;])\s|^(?:modified|read|ok:|failed:|user:|agent:)\s")
"""What stands between the words of a line and ours, or between those of two messages."""
_FIRST_SAID = ("Goal", "Constraints", "Pinned")
"""Sections whose lines were said by a person once, and repeated by others."""
_MIN_CHARS = 12
"""Of words that tell where they come from; a shorter part must be exact. Chosen."""
_MIN_EXACT_CHARS = 4
"""Of a shorter part, which stands as a word of its own: `7` stands everywhere. Chosen."""
_EXACT = re.compile(r"[/\d_]")


class Sources:
    """The words of the messages that a summary stands for, made ready to be looked for."""

    def __init__(self, items: Sequence[ContextItem]) -> None:
        self._items = items

    def find(self, line: str, section: str) -> int | None:
        """Find the message that a line of a section comes from; None where none holds its words.

        Of several it is the first where a person said it, else the last.
        """
        numbers = range(len(self._items))
        if section.startswith(_FIRST_SAID):
            order = sorted(numbers, key=lambda number: self._items[number].category != "user")
        else:
            order = numbers[::-1]
        for part in _list_parts(line):
            for number in order:
                if _holds(self._texts[number], part):
                    return number
        return None

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return tuple("\n".join(map(normalize_line, _list_texts(item))) for item in self._items)


def _list_parts(line: str) -> Iterator[str]:
    """Give the words to look for: the whole line, else its parts, the longest first."""
    point = remove_point_mark(line.strip())
    whole = normalize_line(point)
    if len(whole) >= _MIN_CHARS:
        yield whole
    parts = sorted(map(normalize_line, _PARTS.split(point)), key=len, reverse=True)
    for part in parts:
        if len(part) >= _MIN_CHARS or (len(part) >= _MIN_EXACT_CHARS and _EXACT.search(part)):
            yield part


def _holds(text: str, part: str) -> bool:
    if part not in text:
        return False
    return len(part) >= _MIN_CHARS or bool(re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text))


def _list_texts(item: ContextItem) -> Iterator[str]:
    for block in item.message.blocks:
        match block:
            case Text():
                yield block.text
            case ToolCall():
                facts = read_call(block)
                yield from (touch.path for touch in facts.touches)
                yield facts.command or ""
                yield from list_new_texts(block)
            case ToolResult():
                yield result_text(block)
            case _:
                continue
