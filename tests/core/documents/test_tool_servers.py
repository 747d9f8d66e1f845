"""Where a text configures MCP servers, which of them is told, and what turns one off."""

import pytest

from ullage.core.documents.tool_servers import ServerSize, find_large_servers, list_servers
from ullage.core.text.positions import Positions

JSON = """{
  "mcpServers": {
    "docs": {"command": "docs"},
    "my.db": {"command": "db"}
  }
}
"""
TOML = """model = "gpt-5"

[mcp_servers.docs]
command = "docs"

[mcp_servers."my.db"]
command = "db"
enabled = true

[mcp_servers.off]
enabled = false

[mcp_servers.docs.env]
enabled = "x"
"""


def size(n_tokens: int) -> ServerSize:
    return ServerSize(n_tokens=n_tokens, n_described=3, n_results=0)


def apply_fixes(text: str, *names: str, is_toml: bool) -> str:
    servers, positions = list_servers(text, is_toml=is_toml), Positions(text)
    sizes = {name: size(5_000) for name in names}
    ((_, finding),) = find_large_servers(text, servers, sizes, ())
    (fix,) = finding.fixes
    start, end = (positions.offset(at) for at in (fix.extent.start, fix.extent.end))
    return text[:start] + fix.new_text + text[end:]


@pytest.mark.parametrize("name", ["docs", "my_db"])
def test_a_server_of_json_is_taken_out_with_its_comma(name: str) -> None:
    left = apply_fixes(JSON, name, is_toml=False)
    (server,) = list_servers(left, is_toml=False)
    assert {server.name, name.replace("_", ".")} == {"docs", "my.db"}


def test_a_server_of_codex_is_turned_off_and_then_told_no_more() -> None:
    off = apply_fixes(TOML, "docs", is_toml=True)
    assert '[mcp_servers.docs]\nenabled = false\ncommand = "docs"\n' in off
    assert [server.name for server in list_servers(TOML, is_toml=True)] == ["docs", "my.db"]
    assert [server.name for server in list_servers(off, is_toml=True)] == ["my.db"]


def test_small_servers_and_those_that_are_off_are_not_told() -> None:
    servers = list_servers(JSON, is_toml=False)
    assert not list(find_large_servers(JSON, servers, {"docs": size(999)}, ()))
    assert not list(find_large_servers(JSON, servers, {"docs": size(5_000)}, {"docs"}))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"mcpServers": []}', "[mcp_servers."])
def test_a_damaged_text_has_no_servers(text: str) -> None:
    assert list_servers(text, is_toml=False) == ()
    assert list_servers(text, is_toml=True) == ()
