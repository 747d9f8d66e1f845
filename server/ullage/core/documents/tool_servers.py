"""MCP servers where they are configured: which fill the window, and how to be rid of one."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from ullage.core.documents.finding import DocumentFinding, TextFix
from ullage.core.text.positions import Positions
from ullage.core.text.prose import plural

_NOT_IN_TOOLS = re.compile(r"[^a-zA-Z0-9_-]")
"""What stands as `_` in the name of a tool, `mcp__SERVER__TOOL`."""


class ServerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Where a text configures a server."""

    name: str
    start: int
    end: int
    """Of the name, or of the head of its table."""
    fix: tuple[str, int, int, str]
    """What turns it off in this text: a title, the place and what stands there then."""


class ServerSize(msgspec.Struct, frozen=True, kw_only=True):
    """What a server took of a session's window."""

    n_tokens: int
    n_described: int
    """Tools whose descriptions the transcript holds."""
    n_results: int


def find_large_servers(
    text: str,
    servers: Iterable[ServerEntry],
    sizes: Mapping[str, ServerSize],
    off: Collection[str],
    min_tokens: int,
) -> Iterator[tuple[ServerEntry, DocumentFinding]]:
    """Find the servers whose tools took much of a session's window, but for those in `off`.

    Sizes are by the names that tools have of them.
    """
    positions = Positions(text)
    for server in servers:
        size = sizes.get(_NOT_IN_TOOLS.sub("_", server.name))
        if size is None or size.n_tokens < min_tokens or server.name in off:
            continue
        title, start, end, new_text = server.fix
        fix = TextFix(
            title=title, extent=positions.extent(start, end), new_text=new_text, is_sure=False
        )
        yield (
            server,
            DocumentFinding(
                code="tools-large",
                extent=positions.extent(server.start, server.end),
                message=f"{server.name} takes about {size.n_tokens:,} tokens of each request in"
                f" the last session of this workspace: {plural(size.n_described, 'tool')}"
                f" described, and {plural(size.n_results, 'result')}.",
                fixes=(fix,),
            ),
        )
