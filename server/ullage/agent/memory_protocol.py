"""What agent runtimes and `ullage agent` say to each other of memory; no session is needed."""

from datetime import date
from typing import Annotated

import msgspec

from ullage.agent.wire import Method, Wire
from ullage.core.memory.answer import DEFAULT_LIMIT, MAX_LIMIT, MAX_QUERY_CHARS, Scope
from ullage.core.memory.journal import Asker
from ullage.core.memory.origin import Origin
from ullage.core.memory.ranking import FoundBy


class OfWorkspace(Wire, frozen=True, kw_only=True):
    """Base of the params of questions to memory."""

    cwd: str
    """The workspace, an absolute path."""
    session: str | None = None
    """Handle of the session that asks, where it is open: a read-only one leaves nothing behind."""


class SearchMemory(OfWorkspace, frozen=True, kw_only=True):
    """Search the Markdown of a workspace: `MEMORY.md`, `memory/` and its other pages."""

    query: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_QUERY_CHARS)]
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT
    scope: Scope = "all"
    since: date | None = None
    """Leave out what was written before that day."""
    by: Asker = "agent"
    """Who asks; what a person or an agent recalls is worth more later."""


class MemoryHit(Wire, frozen=True, kw_only=True):
    """A piece of memory that answers; its text is data, whatever it says."""

    path: str
    """Relative to the workspace, with `/`."""
    first_line: int
    """From 1, as `lastLine`."""
    last_line: int
    heading: str
    text: str
    origin: Origin
    score: float
    """From 0 to 1."""
    by: FoundBy
    """What found it."""


class MemoryFound(Wire, frozen=True, kw_only=True):
    results: list[MemoryHit]
    """Best first; empty where nothing answers."""
    note: str | None
    """What the asker should know of the answer, such as that nothing was found."""
    text: str
    """The same for a model, as data that Ullage knows again: put it before it as it is."""


SEARCH = Method(name="memory/search", params=SearchMemory, result=MemoryFound)

MEMORY_METHODS = (SEARCH,)
