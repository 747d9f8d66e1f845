"""What a search of memory is asked, and what it answers."""

from typing import Literal, TypeAlias

import msgspec

from ullage.core.memory.origin import Origin

Scope: TypeAlias = Literal["all", "memory", "documents"]
"""Where to search: `MEMORY.md` and `memory/`, the workspace's other Markdown, or both."""
FoundBy: TypeAlias = Literal["words", "vectors", "both"]
DEFAULT_LIMIT = 6
MAX_LIMIT = 50
MAX_QUERY_CHARS = 2_000
DEFAULT_LINES = 40
MAX_LINES = 200
"""That are read back at a time."""


class MemoryHit(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk that answers a question; all of its text is quoted data."""

    path: str
    """Relative to the workspace, with `/`."""
    first_line: int
    """From 1, as `last_line`."""
    last_line: int
    heading: str
    """The headings above it, such as `Decisions › Storage`."""
    text: str
    origin: Origin
    score: float
    """From 0 to 1."""
    by: FoundBy
    """What found it."""


class MemoryAnswer(msgspec.Struct, frozen=True, kw_only=True):
    results: tuple[MemoryHit, ...]
    """Best first; empty where nothing answers."""
    note: str | None = None
    """What the asker should know of the answer, in words."""
