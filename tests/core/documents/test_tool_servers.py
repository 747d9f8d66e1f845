"""Which MCP servers are told where they are configured, and what is told of them."""

from ullage.core.documents.tool_servers import ServerEntry, ServerSize, find_large_servers
from ullage.core.text.positions import Position

TEXT = '{"mcpServers": {\n"my.db": {}}}'
SERVER = ServerEntry(name="my.db", start=17, end=24, fix=("Remove it", 17, 28, ""))


def size(n_tokens: int) -> ServerSize:
    return ServerSize(n_tokens=n_tokens, n_described=3, n_results=0)


def test_a_large_server_is_told_by_the_name_that_its_tools_have() -> None:
    ((server, finding),) = find_large_servers(TEXT, [SERVER], {"my_db": size(5_000)}, (), 1_000)
    assert server == SERVER
    assert finding.message.startswith("my.db takes about 5,000 tokens ")
    assert (finding.extent.start, finding.extent.end) == (Position(1, 0), Position(1, 7))
    (fix,) = finding.fixes
    assert (fix.title, fix.extent.end, fix.new_text) == ("Remove it", Position(1, 11), "")
    assert not fix.is_sure


def test_small_servers_and_those_that_are_off_are_not_told() -> None:
    assert not list(find_large_servers(TEXT, [SERVER], {"my_db": size(999)}, (), 1_000))
    assert not list(find_large_servers(TEXT, [SERVER], {"my_db": size(5_000)}, {"my.db"}, 1_000))
