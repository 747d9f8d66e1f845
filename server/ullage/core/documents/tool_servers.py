"""MCP servers where they are configured: which fill the window, and how to be rid of one.

Claude Code reads `.mcp.json` of a project, Codex `[mcp_servers.NAME]` of its `config.toml`.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from ullage.core.documents.finding import DocumentFinding, TextFix
from ullage.core.gauge.breakdown import MIN_GAIN_TOKENS
from ullage.core.text.json5 import parse_json5
from ullage.core.text.positions import Positions
from ullage.core.text.prose import plural
from ullage.core.text.tree import MappingNode, Member, ParseError

_TABLE = re.compile(
    r'^[ \t]*\[mcp_servers\.(?:"([^"\n]+)"|([\w-]+))\][^\n]*(?:\n|\Z)', re.MULTILINE
)
_NEXT_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_OFF = re.compile(r"^[ \t]*enabled[ \t]*=[ \t]*false\b", re.MULTILINE)
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


def list_servers(text: str, *, is_toml: bool) -> tuple[ServerEntry, ...]:
    """List the servers that a text configures; none where it is damaged, or turns one off."""
    return tuple(_list_tables(text) if is_toml else _list_members(text))


def _list_tables(text: str) -> Iterator[ServerEntry]:
    for head in _TABLE.finditer(text):
        following = _NEXT_TABLE.search(text, head.end())
        if not _OFF.search(text[head.end() : following.start() if following else len(text)]):
            yield ServerEntry(
                name=head[1] or head[2],
                start=head.start(),
                end=head.start() + len(head[0].rstrip()),
                fix=("Turn it off: enabled = false", head.end(), head.end(), "enabled = false\n"),
            )


def _list_members(text: str) -> Iterator[ServerEntry]:
    try:
        node = parse_json5(text)
    except ParseError:
        return
    top = node.members if isinstance(node, MappingNode) else ()
    for listed in (member.node for member in top if member.key == "mcpServers"):
        servers = listed.members if isinstance(listed, MappingNode) else ()
        for at, server in enumerate(servers):
            title = f"Remove {server.key} for all who use this file"
            start, end = _span(servers, at)
            yield ServerEntry(
                name=server.key, start=server.start, end=server.end, fix=(title, start, end, "")
            )


def _span(members: tuple[Member, ...], at: int) -> tuple[int, int]:
    """Give the place of a member with one of the commas around it."""
    if at + 1 < len(members):
        return members[at].start, members[at + 1].start
    return (members[at - 1].node.end if at else members[at].start), members[at].node.end


def find_large_servers(
    text: str, servers: Iterable[ServerEntry], sizes: Mapping[str, ServerSize], off: Collection[str]
) -> Iterator[tuple[ServerEntry, DocumentFinding]]:
    """Find the servers whose tools took much of a session's window, but for those in `off`.

    Sizes are by the names that tools have of them.
    """
    positions = Positions(text)
    for server in servers:
        size = sizes.get(_NOT_IN_TOOLS.sub("_", server.name))
        if size is None or size.n_tokens < MIN_GAIN_TOKENS or server.name in off:
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
                message=f"{server.name} takes {size.n_tokens:,} tokens of each request in the last"
                f" session of this workspace: {plural(size.n_described, 'tool')} described, and"
                f" {plural(size.n_results, 'result')}.",
                fixes=(fix,),
            ),
        )
