"""Chunks of memory: what a search gives, an item of a list or what stands below a heading."""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import msgspec

from ullage.core.secrets.rules import find_by_rules, may_match
from ullage.core.text.markdown import Part, read_parts

MAX_CHUNK_CHARS = 1600
"""About 400 tokens (docs/design/memory.md, "Chunks"); longer parts are cut between lines."""
MAX_TITLE_CHARS = 200
"""Of a heading, as it stands with each chunk below it (chosen: three lines)."""
MAX_LIST_CHARS = 800
"""So long may items of a list be together that stands in prose: read apart they say little."""
MIN_PROSE_CHARS = 80
"""A shorter paragraph is a label of what follows; a page with half as many longer ones as it has
items is prose. Both by questions on this project's pages (`benchmarks/memory/questions.py`).
"""
CHUNKER = 5
"""Raised with every change of what a chunk is: indexes of another one are built again."""
_RULE = re.compile(r"[\s|:=*_-]*\Z")
_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_LINE_END = re.compile("\n")
_VISIBLE = re.compile(r"\S")


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

    An item of a list is a chunk with what is indented below it, and so is what else stands
    together below one heading, as long as it is not too long. A heading with nothing below it is
    one too. A secret that would be parted, such as a private key, is in none: a half of it is not
    known as a secret any more.
    """
    spans = tuple(_list_spans(text))
    if may_match(text) and (parted := _list_parted_secrets(text, spans)):
        for start, end in parted:
            text = text[:start] + _VISIBLE.sub(" ", text[start:end]) + text[end:]
        spans = tuple(_list_spans(text))
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    return tuple(
        Chunk(
            first_line=bisect_right(starts, span.start),
            last_line=bisect_right(starts, span.end - 1),
            heading=span.heading,
            text=text[span.start : span.end],
        )
        for span in spans
    )


class _Span(msgspec.Struct):
    heading: str
    start: int
    end: int


def _list_parted_secrets(text: str, spans: Sequence[_Span]) -> list[tuple[int, int]]:
    """List where secrets stand that begin or end within a chunk, and are not whole in it."""
    starts = [span.start for span in spans]
    parted: list[tuple[int, int]] = []
    for start, end, *_ in find_by_rules(text):
        at = bisect_right(starts, start)
        last_end = spans[at - 1].end if at else 0
        if last_end < end and (start < last_end or (at < len(spans) and starts[at] < end)):
            parted.append((start, end))
    return parted


def _list_spans(text: str) -> Iterator[_Span]:
    """List where chunks begin and end, without the space around them."""
    headings: list[tuple[int, str]] = []
    bare: Part | None = None
    current: _Span | None = None
    item: Part | None = None
    parts = read_parts(text)
    max_list_chars = MAX_LIST_CHARS if _is_prose(parts) else 0

    def path() -> str:
        return " › ".join(title for _, title in headings if title)

    for part in parts:
        if part.kind == "heading":
            if current is not None:
                yield current
                current = None
            if bare is not None and part.level <= bare.level:
                yield from (_Span(path(), *piece) for piece in _cut(text, bare))
            while headings and headings[-1][0] >= part.level:
                headings.pop()
            headings.append((part.level, _read_title(text[part.start : part.end])))
            bare, item = part, None
            continue
        is_apart = part.is_item or (
            part.kind == "text" and item is not None and part.indent <= item.indent
        )
        max_chars = max_list_chars if is_apart else MAX_CHUNK_CHARS
        for start, end in _cut(text, part):
            bare = None
            if current is not None:
                if end - current.start <= max_chars:
                    current.end = end
                    continue
                yield current
            current = _Span(path(), start, end)
            if is_apart:
                item = part if part.is_item else None
    if current is not None:
        yield current
    if bare is not None:
        yield from (_Span(path(), *piece) for piece in _cut(text, bare))


def _is_prose(parts: Sequence[Part]) -> bool:
    """Tell whether lists stand in prose here; a log or a memory file is a list of facts."""
    n_items = sum(part.is_item for part in parts)
    others = (part for part in parts if part.kind != "heading" and not part.is_item)
    return 2 * sum(part.end - part.start >= MIN_PROSE_CHARS for part in others) >= n_items


def _read_title(line: str) -> str:
    """Give what a heading says: a closing sequence of `#` stands behind a blank."""
    title = line.strip().lstrip("#").strip()
    *before, last = title.rsplit(maxsplit=1) or [""]
    if not last.strip("#"):
        title = "".join(before)
    return title[:MAX_TITLE_CHARS].rstrip()


def _cut(text: str, part: Part) -> Iterator[tuple[int, int]]:
    """Cut what is too long, without the space around it; mere rules and blanks are left out."""
    for start, end in _cut_lines(text, part):
        content = text[start:end]
        if not _RULE.match(content):
            yield start + len(content) - len(content.lstrip()), start + len(content.rstrip())


def _cut_lines(text: str, part: Part) -> Iterator[tuple[int, int]]:
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
