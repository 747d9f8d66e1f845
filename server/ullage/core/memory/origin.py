"""Where a text of memory comes from: told by structure, kept apart from the Markdown, by lines.

A line is known by a digest of its words. Who may be believed how far is in docs/design/memory.md,
"Who may be believed".
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias, get_args

import msgspec

Origin: TypeAlias = Literal["user", "agent", "file", "tool", "web", "unknown"]
"""A person's typed words; the agent; what a folder held when it was first seen, or pulled; output
of a tool; a web page; nobody who is known. The most trusted first."""
ORIGINS: tuple[Origin, ...] = get_args(Origin)
ORIGIN_WORDS: dict[Origin, str] = {
    "user": "typed by you",
    "agent": "by the agent",
    "file": "from a file",
    "tool": "from a tool",
    "web": "from the web",
    "unknown": "of unknown origin",
}
"""For people."""
_RANKS = {origin: rank for rank, origin in enumerate(ORIGINS)}
_MARK = re.compile(r"\A\s*(?:(?:#{1,6}|[-*+•]|\d{1,3}[.)])\s{1,4}(?:\[[ xX]\]\s{1,4})?)+")
_FRAME = re.compile(
    r"\d{4}-\d\d-\d\d|\d\d:\d\d — (?:compaction pre-flush|memory flush|stored memory)|memory"
    r"|\*\*(?:task progress|important decisions|issues found|user preferences|notes):\*\*"
    r"|<!-- ullage [^<>]{1,300} -->|[\W_]*"
)
"""A line that says nothing by itself: blank, or what Ullage writes around points."""


def normalize_line(line: str) -> str:
    """Give what is alike for a line however it is spaced, marked as an item or capitalized."""
    return " ".join(_MARK.sub("", line).casefold().split())


def digest_line(line: str) -> str:
    """Give the name by which a line is known."""
    return _digest_words(normalize_line(line))


def list_line_digests(text: str) -> Iterator[str]:
    """Give the digest of each line of a text that says something."""
    for line in text.split("\n"):
        words = normalize_line(line)
        if not _FRAME.fullmatch(words):
            yield _digest_words(words)


def least_trusted(origins: Iterable[Origin], otherwise: Origin) -> Origin:
    """Give the least trusted of some origins; `otherwise` where there are none."""
    return ORIGINS[max((_RANKS[origin] for origin in origins), default=_RANKS[otherwise])]


def is_more_trusted(origin: Origin, other: Origin) -> bool:
    return _RANKS[origin] < _RANKS[other]


def is_memory_path(path: str) -> bool:
    """Tell whether a file of a workspace is memory, by its path with `/`."""
    return path == "MEMORY.md" or (path.startswith("memory/") and path.endswith(".md"))


class KnownOrigins(msgspec.Struct, frozen=True, kw_only=True):
    """What a journal, read once, knows of the lines of memory."""

    lines: dict[str, Origin]
    """By their digests."""
    is_begun: bool
    """Whether the folder was seen before; until then, all that it holds is at first sight."""

    def tell(self, path: str, text: str) -> Origin:
        """Tell the origin of a text, such as a chunk below its headings: that of its worst line.

        A line of memory that is not known was changed from outside; other Markdown is a file's.
        """
        if not is_memory_path(path):
            return "file"
        return least_trusted(map(self._tell_line, list_line_digests(text)), "file")

    def _tell_line(self, digest: str) -> Origin:
        return self.lines.get(digest) or ("unknown" if self.is_begun else "file")


def _digest_words(words: str) -> str:
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:24]
