"""The sections of AGENTS.md that an agent is given again after a compaction.

Their rules: docs/design/checkpoints.md, "After a compaction".
"""

import re
from datetime import date
from typing import Literal, TypeAlias

import msgspec

from ullage.core.text.markdown import read_parts

AGENTS_NAME = "AGENTS.md"
SectionKind: TypeAlias = Literal["startup", "limits"]
_NAMES: tuple[dict[str, SectionKind], ...] = (
    {"session startup": "startup", "red lines": "limits"},
    {"every session": "startup", "safety": "limits"},
)
"""The headings in small letters; those of older templates count where none of the first is."""
_DAY = "YYYY-MM-DD"
_LETTERS = re.compile(r"[^\W\d_]+")


class StartupRules(msgspec.Struct, frozen=True, kw_only=True):
    """A section of AGENTS.md with its heading."""

    kind: SectionKind
    text: str


def find_startup_rules(agents_md: str) -> tuple[StartupRules, ...]:
    """Give the sections, what a session begins with first.

    A section goes up to the next heading of its level or a higher one. Headings in code and in
    comments are none.
    """
    headings = [part for part in read_parts(agents_md) if part.kind == "heading"]
    titles = (agents_md[part.start : part.end].casefold() for part in headings)
    # Some stand in bold, or behind a picture.
    names = [" ".join(_LETTERS.findall(title)) for title in titles]
    kinds = next((each for each in _NAMES if not each.keys().isdisjoint(names)), _NAMES[0])
    spans: dict[SectionKind, tuple[int, int]] = {}
    for name, kind in kinds.items():
        if name not in names:
            continue
        at = names.index(name)
        start, level = headings[at].start, headings[at].level
        later = (part.start for part in headings[at + 1 :] if part.level <= level)
        # One may stand within the other.
        if not any(first <= start < end for first, end in spans.values()):
            spans[kind] = start, next(later, len(agents_md))
    return tuple(
        StartupRules(kind=kind, text=agents_md[start:end].strip())
        for kind, (start, end) in spans.items()
    )


def put_in_day(text: str, day: date) -> str:
    """Write a day in the place of `YYYY-MM-DD`."""
    return text.replace(_DAY, day.isoformat())
