"""Places in a text as the protocol counts them: lines from 0, columns in UTF-16 units.

A line ends at \\n, \\r\\n or \\r and nowhere else. `str.splitlines` also breaks at U+2028,
which editors show inside a line.
"""

import re
from bisect import bisect_right

import msgspec

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
"""Characters that take two UTF-16 units."""


class Position(msgspec.Struct, frozen=True, order=True):
    line: int
    column: int


class Extent(msgspec.Struct, frozen=True):
    start: Position
    end: Position


class Positions:
    """The lines of a text, to go from offsets in characters to positions and back."""

    def __init__(self, text: str) -> None:
        self._text = text
        breaks = tuple(_LINE_BREAK.finditer(text))
        self._starts = (0, *(match.end() for match in breaks))
        self._ends = (*(match.start() for match in breaks), len(text))

    @property
    def n_lines(self) -> int:
        return len(self._starts)

    def line_text(self, line: int) -> str:
        """Give a line without its end; empty for one that is not there."""
        if not 0 <= line < len(self._starts):
            return ""
        return self._text[self._starts[line] : self._ends[line]]

    def line_start(self, line: int) -> int:
        return self._starts[min(max(line, 0), len(self._starts) - 1)]

    def position(self, offset: int) -> Position:
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        return Position(line, utf16_length(self._text[start : min(offset, self._ends[line])]))

    def extent(self, start: int, end: int) -> Extent:
        return Extent(self.position(start), self.position(end))

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Count as people do: lines and columns from 1, columns in characters."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, position: Position) -> int:
        """Give the offset of a position; one beyond its line is the line's end."""
        if position.line >= len(self._starts):
            return len(self._text)
        line = self.line_text(position.line)
        return self._starts[position.line] + utf16_offset(line, position.column)


def utf16_length(text: str) -> int:
    """Count a text as JavaScript and the protocol do."""
    return len(text) if text.isascii() else len(text) + len(_ASTRAL.findall(text))


def utf16_offset(text: str, n_units: int) -> int:
    """Give the offset of the character at a number of UTF-16 units, or of the one they split."""
    if text.isascii():
        return min(n_units, len(text))
    at = 0
    for offset, char in enumerate(text):
        at += 2 if char > "\uffff" else 1
        if at > n_units:
            return offset
    return len(text)
