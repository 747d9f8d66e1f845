"""The parts of a Markdown text that say something: headings, paragraphs, items, code, each with
its place. Enough of the language to lint by; no renderer."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec

from ullage.core.text.lazy_pattern import lazy_pattern

PartKind: TypeAlias = Literal["heading", "text", "code"]
_LINE = lazy_pattern(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_FENCE = lazy_pattern(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<rest>.*)")
_HEADING = lazy_pattern(r" {0,3}(#{1,6})(?:[ \t]+|$)")
_ITEM = lazy_pattern(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_COMMENT = lazy_pattern(r"<!--.*?-->", re.DOTALL)
_OPEN_COMMENT = lazy_pattern(r"^ {0,3}<!--.*", re.DOTALL | re.MULTILINE)
"""One that is never closed hides the rest where it begins a line; elsewhere it is text."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A heading, a paragraph or an item of a list, or a fenced block of code."""

    kind: PartKind
    start: int
    """Offsets of its lines in the text, without the end of the last one."""
    end: int
    level: int = 0
    """Of a heading, from 1."""
    indent: int = 0
    """Columns before it."""
    is_item: bool = False


class _OpenPart(msgspec.Struct):
    kind: PartKind
    start: int
    end: int
    indent: int
    is_item: bool = False
    fence: str = ""


def read_parts(text: str) -> tuple[Part, ...]:
    """Read the parts in their order; what stands in comments is none."""
    # Behind the last end none is looked for: each beginning would cost the rest of the text.
    end = text.rfind("-->") + len("-->")
    text = _COMMENT.sub(_blank_out, text[:end]) + text[end:]
    return tuple(_parts(_OPEN_COMMENT.sub(_blank_out, text)))


def _blank_out(comment: re.Match[str]) -> str:
    return re.sub(r"[^\r\n]", " ", comment[0])


def _parts(text: str) -> Iterator[Part]:
    current: _OpenPart | None = None
    for match in _LINE.finditer(text):
        line = match[0].rstrip("\r\n")
        start, end = match.start(), match.start() + len(line)
        if current is not None and current.kind == "code":
            current.end = end
            if _ends_fence(line, current.fence):
                yield msgspec.convert(current, Part, from_attributes=True)
                current = None
            continue
        fence = _FENCE.match(line)
        heading = _HEADING.match(line)
        is_break = fence is not None or heading is not None or not line.strip()
        item = _ITEM.match(line)
        if current is not None and (is_break or item):
            yield msgspec.convert(current, Part, from_attributes=True)
            current = None
        if fence is not None:
            current = _OpenPart(
                kind="code", start=start, end=end, indent=_indent(line), fence=fence["mark"]
            )
        elif heading is not None:
            yield Part(kind="heading", start=start, end=end, level=len(heading[1]))
        elif current is not None:
            current.end = end
        elif line.strip():
            current = _OpenPart(
                kind="text", start=start, end=end, indent=_indent(line), is_item=item is not None
            )
    if current is not None:
        yield msgspec.convert(current, Part, from_attributes=True)


def _ends_fence(line: str, fence: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence) and set(bare) == {fence[0]}


def _indent(line: str) -> int:
    wide = line.expandtabs(4)
    return len(wide) - len(wide.lstrip())


def split_plain_words(text: str) -> tuple[str, ...]:
    """Give what a paragraph or an item says, as words: without marks, case and markup."""
    item = _ITEM.match(text)
    said = text[item.end() :] if item else text
    return tuple(re.findall(r"[\w/.@#$%+-]*\w", said.casefold()))


class NestedPart(msgspec.Struct, frozen=True, kw_only=True):
    """A paragraph or an item, and what it is part of and made of."""

    part: Part
    above: tuple[Part, ...]
    """From the outermost on; headings are none of them."""
    below: tuple[Part, ...]
    """All of them, in their order."""

    @property
    def end(self) -> int:
        return self.below[-1].end if self.below else self.part.end


def nest_parts(text: str, parts: Sequence[Part]) -> tuple[NestedPart, ...]:
    above: list[tuple[Part, ...]] = []
    below: list[list[Part]] = [[] for _ in parts]
    open_at: list[int] = []
    for at, part in enumerate(parts):
        while open_at and not _contains(text, parts[open_at[-1]], part):
            open_at.pop()
        above.append(tuple(parts[outer] for outer in open_at))
        for outer in open_at:
            below[outer].append(part)
        if part.kind == "text":
            open_at.append(at)
    return tuple(
        NestedPart(part=part, above=above[at], below=tuple(below[at]))
        for at, part in enumerate(parts)
        if part.kind == "text"
    )


def _contains(text: str, outer: Part, part: Part) -> bool:
    """Whether a paragraph or an item continues in a later part, past parts nested in it."""
    if part.kind == "heading":
        return False
    if outer.is_item and part.indent > outer.indent:
        return True
    announces = text[outer.start : outer.end].rstrip(" *_").endswith(":")
    is_list = part.is_item and not outer.is_item
    return announces and part.indent >= outer.indent and (is_list or part.kind == "code")
