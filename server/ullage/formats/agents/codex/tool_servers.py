"""Codex: the MCP servers of a `config.toml`, `[mcp_servers.NAME]`."""

import re
from collections.abc import Iterator

import msgspec

from ullage.core.documents.tool_servers import ServerEntry
from ullage.formats.agent_info import ToolServers
from ullage.formats.agents.codex.settings import HOME

_TOKEN = re.compile(
    r'#[^\n]*|"""(?:[^"\\]|\\.|"(?!""))*+(?:"{3,5}|\\?\Z)'
    r"|'''(?:[^']|'(?!''))*+(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\[^\n])*+"?'
    r"|'[^'\n]*+'?|[\[\]{}\n]",
    re.DOTALL,
)
"""What may hide the end of a statement, or is it; what has no end goes on to that of its line or of
the text, so that no part is read twice."""
_HEAD = re.compile(r"[ \t]*\[")
_SERVER = re.compile(
    r"""[ \t]*\[[ \t]*(["']?)mcp_servers\1[ \t]*\.[ \t]*"""
    r"""(?:"([^"\\\n]+)"|'([^'\n]+)'|([A-Za-z0-9_-]+))[ \t]*\]"""
)
_ENABLED = re.compile(r"""[ \t]*(["']?)enabled\1[ \t]*=[ \t]*([^\s#]+)""")
_TITLE = "Turn it off: enabled = false"


def _list_servers(text: str) -> Iterator[ServerEntry]:
    server: ServerEntry | None = None
    for start, end in _list_statements(text):
        if _HEAD.match(text, start, end):
            if server is not None:
                yield server
            server = _read_head(text, start, end)
        elif server is not None and (key := _ENABLED.match(text, start, end)):
            fix = (_TITLE, key.start(2), key.end(2), "false")
            server = msgspec.structs.replace(server, fix=fix) if key[2] == "true" else None
    if server is not None:
        yield server


def _list_statements(text: str) -> Iterator[tuple[int, int]]:
    """Give where each head of a table and each key with its value begins and ends."""
    start = depth = 0
    for token in _TOKEN.finditer(text):
        if token[0] in ("[", "{"):
            depth += 1
        elif token[0] in ("]", "}"):
            depth -= 1
        elif token[0] == "\n" and depth <= 0:
            yield start, token.end()
            start, depth = token.end(), 0
    yield start, len(text)


def _read_head(text: str, start: int, end: int) -> ServerEntry | None:
    head = _SERVER.match(text, start, end)
    if head is None:
        return None
    shown = text[start:end].rstrip()
    ending = text[start + len(shown) : end]
    added = f"enabled = false{ending}" if ending.endswith("\n") else "\nenabled = false\n"
    return ServerEntry(
        name=head[2] or head[3] or head[4],
        start=start,
        end=start + len(shown),
        fix=(_TITLE, end, end, added),
    )


SERVERS = ToolServers(file=".codex/config.toml", home=HOME, list_servers=_list_servers)
