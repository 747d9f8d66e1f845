"""Chunks of memory: what a search gives, an item of a list or what stands below a heading."""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterator

import msgspec

from ullage.core.text.markdown import Part, read_parts

MAX_CHUNK_CHARS = 1600
"""About 400 tokens (docs/design/memory.md, "Chunks"); longer parts are cut between lines."""
CHUNKER = 1
"""Raised with every change of what a chunk is: indexes of another one are built again."""
_HEADING_MARKS = re.compile(r"^\s*#+\s*|\s*#*\s*$")
_RULE = re.compile(r"[\s|:=*_-]*\Z")
_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_LINE_END = re.compile("\n")


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a Markdown text with its place."""

    first_line: int
    """From 1, as `last_line`."""
    last_line: int
    heading: str
    """The headings above it, such as `Decisions › Storage`; empty where there is none."""
    text: str
    """Its lines, without the space around them."""


def chunk_digest(text: str) -> str:
    """Give the SHA-256 of a chunk's text, by which the journal and the vectors know it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_chunks(text: str) -> tuple[Chunk, ...]:
    """Read the chunks of a Markdown text in their order.

    An item of a list is a chunk, and so is what else stands together below one heading, as long
    as it is not too long. A heading with nothing below it is one too.
    """
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    return tuple(
        Chunk(
            first_line=bisect_right(starts, span.start),
            last_line=bisect_right(starts, span.end - 1),
            heading=span.heading,
            text=text[span.start : span.end],
        )
        for span in _list_spans(text)
    )


class _Span(msgspec.Struct):
    heading: str
    start: int
    end: int


def _list_spans(text: str) -> Iterator[_Span]:
    """List where chunks begin and end, without the space around them."""
    headings: list[tuple[int, str]] = []
    bare: Part | None = None
    current: _Span | None = None

    def path() -> str:
        return " › ".join(title for _, title in headings)

    for part in read_parts(text):
        if part.kind == "heading":
            if current is not None:
                yield current
                current = None
            if bare is not None and part.level <= bare.level:
                yield _Span(path(), bare.start, bare.end)
            while headings and headings[-1][0] >= part.level:
                headings.pop()
            headings.append((part.level, _HEADING_MARKS.sub("", text[part.start : part.end])))
            bare = part
            continue
        bare = None
        for cut in _cut(text, part):
            start, end = _strip(text, *cut)
            if start == end or _RULE.match(text, start, end):
                continue
            fits = current is not None and end - current.start <= MAX_CHUNK_CHARS
            if current is not None and fits and not part.is_item:
                current.end = end
                continue
            if current is not None:
                yield current
            current = _Span(path(), start, end)
    if current is not None:
        yield current
    if bare is not None:
        yield _Span(path(), bare.start, bare.end)


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    content = text[start:end]
    return start + len(content) - len(content.lstrip()), start + len(content.rstrip())


def _cut(text: str, part: Part) -> Iterator[tuple[int, int]]:
    """Cut what is too long between lines; a line that is longer still within it."""
    start = end = part.start
    for match in _LINE.finditer(text, part.start, part.end):
        if end > start and match.end() - start > MAX_CHUNK_CHARS:
            yield start, end
            start = end
        end = match.end()
        while end - start > MAX_CHUNK_CHARS:
            yield start, start + MAX_CHUNK_CHARS
            start += MAX_CHUNK_CHARS
    if end > start:
        yield start, end
