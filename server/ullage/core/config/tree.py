"""A configuration as a tree of values, each with its place in the text it was read from."""

import re
from bisect import bisect_right
from typing import Literal, TypeAlias

import msgspec

_LINE_BREAK = r"\r\n|\r|\n"
"""What editors call a line; YAML 1.1 would break at U+0085 and U+2028 too."""

MAX_SIZE_BYTES = 256 * 1024
"""Chosen: a file with every key and a comment on each has 10 kB, and reading the worst kind of so
many bytes takes 0.4 s (measured), which is all that a hostile workspace may cost."""
MAX_DEPTH = 50
"""Deeper nesting is not read (research/reliability.md C13)."""
MAX_DIGITS = 18
"""What a whole number may have; a longer one is infinite (chosen: all fit into 64 bits)."""
MAX_SHOWN_CHARS = 60
"""More of a name that somebody made up is not shown (chosen)."""


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a text: offsets in characters, lines and columns as people count them."""

    start: int
    end: int
    line: int
    """From 1, as are the columns."""
    column: int
    end_line: int
    end_column: int


class Leaf(msgspec.Struct, frozen=True, kw_only=True):
    value: bool | int | float | str | None
    """A numeral longer than any of ours is an infinite number."""
    span: Span | None = None


class Items(msgspec.Struct, frozen=True, kw_only=True):
    nodes: tuple["Node", ...]
    span: Span | None = None


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    key_span: Span | None = None
    node: "Node"


class Table(msgspec.Struct, frozen=True, kw_only=True):
    entries: tuple[Entry, ...]
    """In the order of the file; a key may stand twice."""
    span: Span | None = None


Node: TypeAlias = Leaf | Items | Table

Place: TypeAlias = Literal[
    "default", "openclaw", "user file", "workspace file", "editor", "environment", "flag"
]
"""Who says so, from the weakest to the strongest (SPEC §14)."""

PLACES: tuple[Place, ...] = (
    "default",
    "openclaw",
    "user file",
    "workspace file",
    "editor",
    "environment",
    "flag",
)
STRENGTH: dict[Place, int] = {place: rank for rank, place in enumerate(PLACES)}

Code: TypeAlias = Literal[
    "config-unreadable",
    "config-syntax",
    "config-duplicate",
    "config-unknown",
    "config-type",
    "config-range",
    "config-secret",
    "config-untrusted",
    "config-conflict",
    "config-order",
]
"""What is wrong, in words that stay the same."""


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Where a value stands."""

    place: Place
    name: str
    """The file's path, the variable, the flag, or the editor's setting."""
    span: Span | None = None


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a configuration, and what to do about it."""

    code: Code
    origin: Origin
    message: str
    fix: str
    is_used: bool = False
    """Whether the value counts all the same; else the next weaker place decides."""
    replacement: str | None = None
    """What to put at the place instead, where it is known."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """What one file, or the editor, says."""

    place: Place
    name: str
    root: Node | None = None
    """None where it could not be read."""
    findings: tuple[Finding, ...] = ()

    def origin(self, span: Span | None = None) -> Origin:
        return Origin(place=self.place, name=self.name, span=span)


class NotRead(Exception):
    """A text is no tree of values; it is told as a finding."""

    def __init__(self, problem: str, offset: int, fix: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.offset = offset
        self.fix = fix


class TextLines:
    """The lines of a text, to say where an offset is."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer(_LINE_BREAK, text))]

    def span(self, start: int, end: int) -> Span:
        line, column = self._position(start)
        end_line, end_column = self._position(end)
        return Span(
            start=start,
            end=end,
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
        )

    def _position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def origin_text(origin: Origin) -> str:
    """Name a place as compilers do: `file:line:column`."""
    span = origin.span
    return origin.name if span is None else f"{origin.name}:{span.line}:{span.column}"


def shown(name: str) -> str:
    """Shorten a name that somebody made up to a part of one line."""
    line = " ".join(name.split())
    return line if len(line) <= MAX_SHOWN_CHARS else line[: MAX_SHOWN_CHARS - 1] + "…"
