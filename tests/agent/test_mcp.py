"""The three tools over MCP, asked by the official client in a process of its own."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult, TextContent

from pi_files import conversation
from running import Place


@pytest.fixture
def session(place: Place) -> Path:
    return place.write("session.jsonl", conversation(10, chars=2400, usage=7_000).data)


@asynccontextmanager
async def client(place: Place, **env: str) -> AsyncGenerator[ClientSession]:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "ullage", "mcp"], env=place.env(**env), cwd=place.cwd
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as asked:
        await asked.initialize()
        yield asked


def text_of(result: CallToolResult) -> str:
    assert not result.is_error, result.content
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


async def test_an_agent_asks_saves_and_reads_its_working_state(place: Place, session: Path) -> None:
    named = {"session": str(session)}
    async with client(place) as asked:
        tools = {tool.name: tool for tool in (await asked.list_tools()).tools}
        status = text_of(await asked.call_tool("context_status", named))
        nothing = text_of(await asked.call_tool("checkpoint_read", named))
        written = text_of(await asked.call_tool("checkpoint_write", named))
        again = text_of(await asked.call_tool("checkpoint_write", named))
        read = text_of(await asked.call_tool("checkpoint_read", named))

    assert set(tools) == {"context_status", "checkpoint_write", "checkpoint_read"}
    assert "Total Tokens:        7,0" in status
    assert "no checkpoint of this session yet" in nothing
    assert written == "Saved as checkpoint cp_001."
    assert again == "Nothing changed since checkpoint cp_001."
    assert read.startswith("[Post-compaction checkpoint restore]\n\nWorking on: ")


async def test_the_agent_may_name_its_session_in_the_environment(
    place: Place, session: Path
) -> None:
    async with client(place, CLAUDE_CODE_SESSION_ID=str(session)) as asked:
        assert "Total Tokens" in text_of(await asked.call_tool("context_status", {}))


async def test_what_is_wrong_is_one_line_for_the_model(place: Place) -> None:
    async with client(place) as asked:
        result = await asked.call_tool("context_status", {})
        other = await asked.call_tool("checkpoint_write", {"session": "no-such.jsonl"})

    assert result.is_error
    (part,) = result.content
    assert isinstance(part, TextContent)
    assert f"no session of an agent in {place.cwd}: run Ullage where the agent ran" in part.text
    assert "\n" not in part.text
    assert other.is_error


async def test_a_read_only_workspace_is_not_written_to(place: Place, session: Path) -> None:
    settings = place.home / ".openclaw" / "config.yaml"
    settings.parent.mkdir()
    settings.write_text("sandbox:\n  readOnly: true\n")
    async with client(place) as asked:
        result = await asked.call_tool("checkpoint_write", {"session": str(session)})
    assert result.is_error
    assert not list(place.state.rglob("cp_*.yaml"))
