"""Where the lines of a summary come from: the message that holds the words of each.

Words are looked for rather than noted as a summary is written: so the lines of a model's, those
that an audit put in and those that a user typed are tied too, and none to what does not say it.
"""

import re
from collections.abc import Iterator, Sequence

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
_EXACT = re.compile(r"[/\d_]")


class Sources:
    """The words of the messages that a summary stands for, made ready to be looked for."""

    def __init__(self, items: Sequence[ContextItem]) -> None:
        self._items = items
        self._joined = ""
        self._starts: list[int] = []

    def find(self, line: str, section: str) -> int | None:
        """Find the message that a line of a section comes from; None where none holds its words.

        Of several it is the first where a person said it, else the last.
        """
        if not self._starts:
            self._join()
        for part in _list_parts(line):
            at = (
                self._find_first(part)
                if section.startswith(_FIRST_SAID)
                else self._joined.rfind(part)
            )
            if at >= 0:
                return self._item_at(at)
        return None

    def _join(self) -> None:
        texts: list[str] = []
        n_chars = 0
        for item in self._items:
            text = "\n".join(map(normalize_line, _list_texts(item)))
            self._starts.append(n_chars)
            texts.append(text)
            n_chars += len(text) + 1
        self._joined = "\n".join(texts)

    def _item_at(self, offset: int) -> int:
        low, high = 0, len(self._starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._starts[middle] <= offset else (low, middle)
        return low

    def _find_first(self, part: str) -> int:
        first = at = self._joined.find(part)
        while at >= 0:
            if self._items[self._item_at(at)].category == "user":
                return at
            at = self._joined.find(part, at + 1)
        return first


def _list_parts(line: str) -> Iterator[str]:
    """Give the words to look for: the whole line, else its parts, the longest first."""
    point = remove_point_mark(line.strip())
    whole = normalize_line(point)
    if len(whole) >= _MIN_CHARS:
        yield whole
    parts = sorted(map(normalize_line, _PARTS.split(point)), key=len, reverse=True)
    yield from (part for part in parts if len(part) >= _MIN_CHARS or _EXACT.search(part))


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
