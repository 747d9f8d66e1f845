"""Claude Code: the MCP servers of a project's `.mcp.json`."""

from collections.abc import Iterator

from ullage.core.documents.tool_servers import ServerEntry
from ullage.core.text.json5 import parse_json5
from ullage.core.text.tree import MappingNode, Member, ParseError
from ullage.formats.agent_info import ToolServers


def _list_servers(text: str) -> Iterator[ServerEntry]:
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


SERVERS = ToolServers(
    file=".mcp.json",
    list_servers=_list_servers,
    off_file=".claude/settings.local.json",
    off_key="disabledMcpjsonServers",
)
