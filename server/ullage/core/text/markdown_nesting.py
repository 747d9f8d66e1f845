"""What belongs together in a Markdown text: an item and all below it, a list and what announces it.

"Before you commit, run:" says nothing without the list that follows, and an item of that list
something else below "After you commit, run:".
"""

from collections.abc import Sequence

import msgspec

from ullage.core.text.markdown import Part


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
    """Whether a paragraph or an item goes on in a later part, where those between are its own."""
    if part.kind == "heading":
        return False
    if outer.is_item and part.indent > outer.indent:
        return True
    announces = text[outer.start : outer.end].rstrip(" *_").endswith(":")
    is_list = part.is_item and not outer.is_item
    return announces and part.indent >= outer.indent and (is_list or part.kind == "code")
