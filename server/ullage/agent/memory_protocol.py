"""What agent runtimes and `ullage agent` say to each other of memory; no session is needed."""

from datetime import date
from typing import Annotated, Literal

import msgspec

from ullage.agent.wire import Method, Wire
from ullage.core.memory.answer import (
    DEFAULT_LIMIT,
    DEFAULT_LINES,
    MAX_LIMIT,
    MAX_LINES,
    MAX_QUERY_CHARS,
    FoundBy,
    Scope,
)
from ullage.core.memory.journal import Asker, Kind
from ullage.core.memory.origin import Origin


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


class GetMemory(OfWorkspace, frozen=True, kw_only=True):
    """Read lines of a Markdown file of a workspace, such as those around a result."""

    path: str
    """As `memory/search` names it; also with lines, `MEMORY.md#L3-L9`, which then count."""
    first_line: Annotated[int, msgspec.Meta(ge=1)] = 1
    n_lines: Annotated[int, msgspec.Meta(ge=1, le=MAX_LINES)] = DEFAULT_LINES


class MemoryLines(Wire, frozen=True, kw_only=True):
    path: str
    first_line: int
    last_line: int
    """Fewer lines than were asked for where the file ends, or they are long."""
    n_lines: int
    """Of the whole file."""
    origin: Origin
    lines: str
    """What stands there, as data."""
    text: str
    """The same for a model, as in `memory/search`."""


class StoreMemory(OfWorkspace, frozen=True, kw_only=True):
    """Store one item: in the inbox, or in the daily log where the user allowed that."""

    text: str
    kind: Kind
    source: str | None = None
    """Where it comes from; the session's key unless you say so."""
    by: Literal["user", "agent"] = "agent"


class MemoryStored(Wire, frozen=True, kw_only=True):
    path: str | None
    """The file that has it now; null where memory said it already."""
    item: str
    """As it stands there: one line, without secrets."""
    note: str
    """What was done, for a model or a user."""


SEARCH = Method(name="memory/search", params=SearchMemory, result=MemoryFound)
GET = Method(name="memory/get", params=GetMemory, result=MemoryLines)
STORE = Method(name="memory/store", params=StoreMemory, result=MemoryStored)

MEMORY_METHODS = (SEARCH, GET, STORE)
