"""Where an agent's files configure MCP servers, and what turns one off there."""

import time
import tomllib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from profiles import examples
from ullage.core.documents.tool_servers import ServerEntry
from ullage.core.transcript.entries import Agent
from ullage.formats.registry import agent_info

JSON = """{
  "mcpServers": {
    "docs": {"command": "docs"},
    "my.db": {"command": "db"}
  }
}
"""
HEADS = {
    "docs": "[mcp_servers.docs]",
    "my.db": ' [ mcp_servers . "my.db" ]  # ours',
    "lit": "[mcp_servers.'lit']",
    "last": '["mcp_servers".last]',
}
LINES = (
    "command = 'run' # [",
    'args = [\n[ "a" ],\n["]"], # ]\n]',
    'note = """\n[mcp_servers.docs]\nenabled = true\n\\""" ""\n"""',
    "raw = '''\n[mcp_servers.docs]\n''''",
    "inline = {enabled = true, args = ['[']}",
    "",
    "# enabled = true",
)
SWITCHES = ("enabled = true", '"enabled"=true# on', "  enabled = false", "enabled = true # [", "")
AFTER = ("", "[other]\nenabled = true", "[[more]]", "[[more]]\nenabled = true")


@st.composite
def write_configuration(draw: st.DrawFn) -> str:
    lines = draw(st.lists(st.sampled_from(LINES), unique=True))
    for name in draw(st.lists(st.sampled_from([*HEADS]), unique=True)):
        lines += [HEADS[name], *draw(st.lists(st.sampled_from(LINES), unique=True))]
        lines.insert(
            draw(st.integers(lines.index(HEADS[name]) + 1, len(lines))),
            draw(st.sampled_from(SWITCHES)),
        )
        if draw(st.booleans()):
            lines += [f'[mcp_servers."{name}".env]', "enabled = 'x'"]
    text = "\n".join((*lines, draw(st.sampled_from(AFTER))))
    text = text.rstrip("\n") if draw(st.booleans()) else f"{text}\n"
    return text.replace("\n", draw(st.sampled_from(("\n", "\r\n"))))


def list_servers(agent: Agent, text: str) -> dict[str, ServerEntry]:
    servers = agent_info(agent).tool_servers
    assert servers is not None
    return {server.name: server for server in servers.list_servers(text)}


def apply_fix(text: str, server: ServerEntry) -> str:
    _, start, end, new_text = server.fix
    return text[:start] + new_text + text[end:]


@settings(max_examples=examples(300))
@given(write_configuration())
@example(HEADS["last"])
def test_turning_off_a_server_of_codex_changes_nothing_else(text: str) -> None:
    configured = tomllib.loads(text)
    servers = configured.get("mcp_servers", {})
    found = list_servers("codex", text)
    assert set(found) == {name for name in servers if servers[name].get("enabled") is not False}
    for name, server in found.items():
        assert text[server.start : server.end].strip() == HEADS[name].strip()
        expected = servers | {name: servers[name] | {"enabled": False}}
        fixed = apply_fix(text, server)
        assert tomllib.loads(fixed) == configured | {"mcp_servers": expected}
        assert name not in list_servers("codex", fixed)


@pytest.mark.parametrize(
    "unit", ['"""\n\\', "'''\n", "[", "\"a\n'", '""', "[mcp_servers.a]\n", "enabled = true\n"]
)
def test_a_file_made_to_be_hard_takes_time_by_its_length(unit: str) -> None:
    def cpu_s(n_chars: int) -> float:
        text = "[mcp_servers.a]\n" + unit * (n_chars // len(unit))
        began_s = time.process_time()
        list_servers("codex", text)
        return time.process_time() - began_s

    # Quadratic would be 64 times the time of an eighth, at least where it matters: above 0.1 s.
    assert cpu_s(256_000) < 16 * cpu_s(32_000) + 0.1


@pytest.mark.parametrize("name", ["docs", "my.db"])
def test_a_server_of_claude_code_is_taken_out_with_its_comma(name: str) -> None:
    left = apply_fix(JSON, list_servers("claude-code", JSON)[name])
    assert {*list_servers("claude-code", left), name} == {"docs", "my.db"}


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
@pytest.mark.parametrize("text", ["", "{", "[]", '{"mcpServers": []}', "[mcp_servers.", '"""'])
def test_a_damaged_text_has_no_servers(agent: Agent, text: str) -> None:
    assert list_servers(agent, text) == {}
