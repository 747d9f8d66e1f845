"""Where a text of memory comes from: told by structure, kept apart from the Markdown, by lines.

A line is known by a digest of its words. Who may be believed how far is in docs/design/memory.md,
"Who may be believed".
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeAlias, get_args

Origin: TypeAlias = Literal["user", "agent", "file", "tool", "web", "unknown"]
"""A person's typed words; the agent; what a folder held when it was first seen, or pulled; output
of a tool; a web page; nobody who is known. The most trusted first."""
ORIGINS: tuple[Origin, ...] = get_args(Origin)
_RANKS = {origin: rank for rank, origin in enumerate(ORIGINS)}
_MARK = re.compile(r"\A\s*(?:(?:[-*+•]|\d{1,3}[.)])\s{1,4}(?:\[[ xX]\]\s{1,4})?)+")
_FRAME = re.compile(
    r"\s*(?:#{1,6}\s{1,3}(?:\d{4}-\d\d-\d\d|\d\d:\d\d — (?:Compaction Pre-flush|Memory flush"
    r"|Stored memory)|(?:DREAMS|MEMORY)\.md|Memory)"
    r"|\*\*(?:Task Progress|Important Decisions|Issues Found|User Preferences|Notes):\*\*"
    r"|<!-- ullage [^<>]{1,300} -->|[\W_]*)\s*"
)
"""A line that says nothing by itself: blank, or what Ullage writes around points."""


def digest_line(line: str) -> str:
    """Give what is alike for a line however it is spaced, marked as an item or capitalized."""
    words = " ".join(_MARK.sub("", line).casefold().split())
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def list_line_digests(text: str) -> Iterator[str]:
    """Give the digest of each line of a text that says something."""
    for line in text.split("\n"):
        if not _FRAME.fullmatch(line):
            yield digest_line(line)


def least_trusted(origins: Iterable[Origin], otherwise: Origin) -> Origin:
    """Give the least trusted of some origins; `otherwise` where there are none."""
    return ORIGINS[max((_RANKS[origin] for origin in origins), default=_RANKS[otherwise])]


def is_more_trusted(origin: Origin, other: Origin) -> bool:
    return _RANKS[origin] < _RANKS[other]


def origin_of(text: str, find: Callable[[str], Origin], otherwise: Origin) -> Origin:
    """Tell the origin of a text: the least trusted one of its lines.

    `find` gives that of a line by its digest; `otherwise` holds where no line says anything.
    """
    return least_trusted(map(find, list_line_digests(text)), otherwise)
