"""Findings where MCP servers are configured, by the last session of the workspace."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from ullage.app.documents.check import Surroundings
from ullage.app.sessions.find import list_sessions
from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.core.assembly.advice import count_tools
from ullage.core.documents.finding import DocumentFinding, NewFile, TextFix
from ullage.core.documents.tool_servers import ServerSize, find_large_servers, list_servers
from ullage.errors import InputError
from ullage.formats.agent_info import AgentInfo
from ullage.formats.agents.claude_code.agent import CLAUDE_CODE
from ullage.formats.agents.codex.agent import CODEX
from ullage.formats.json_line import texts_of
from ullage.store.config.agent_settings import read_settings_files
from ullage.store.files.text_files import exists

_DISABLED = "disabledMcpjsonServers"
"""Claude Code's setting, which turns servers of `.mcp.json` off for the user alone."""
_LOCAL_SETTINGS = ".claude/settings.local.json"


def check_tool_servers(path: Path, text: str, around: Surroundings) -> Iterator[DocumentFinding]:
    """Tell of servers that fill the window; nothing before there is a session."""
    is_toml = path.suffix == ".toml"
    agent = CODEX if is_toml else CLAUDE_CODE
    workspace = around.workspace_of(path) or next(iter(around.workspaces), None)
    servers = list_servers(text, is_toml=is_toml)
    if workspace is None or not servers:
        return
    off = set[str]() if is_toml else _list_disabled(workspace, around)
    sizes = _measure_servers(agent, workspace, around)
    for server, finding in find_large_servers(text, servers, sizes, off):
        own = () if is_toml else _turn_off_for_user(server.name, workspace, finding)
        yield msgspec.structs.replace(finding, fixes=(*own, *finding.fixes))


def _measure_servers(
    agent: AgentInfo, workspace: Path, around: Surroundings
) -> dict[str, ServerSize]:
    """Measure what each server took of the window of the workspace's last session."""
    sessions = list_sessions(workspace, around.places)
    newest = next((session for session in sessions if session.agent_info == agent), None)
    if newest is None:
        return {}
    try:
        loaded = load(open_session(newest.path), around.config, around.places)
    except InputError:
        return {}
    texts = agent.list_sent_texts(loaded.session.lines, loaded.context)
    return {
        tool.name: ServerSize(
            n_tokens=tool.n_tokens, n_described=tool.n_described, n_results=tool.n_results
        )
        for tool in count_tools(texts, loaded.context.items, loaded.count)
        if tool.is_server
    }


def _list_disabled(workspace: Path, around: Surroundings) -> set[str]:
    places = around.places
    paths = CLAUDE_CODE.setting_files(workspace, workspace, places.env, places.home)
    files = read_settings_files(paths)
    return {name for file in files for name in texts_of(file.content, _DISABLED)}


def _turn_off_for_user(name: str, workspace: Path, finding: DocumentFinding) -> tuple[TextFix, ...]:
    """Offer the user's own settings, where there are none yet that would have to be changed."""
    path = workspace / _LOCAL_SETTINGS
    if exists(path):
        return ()
    start = msgspec.structs.replace(finding.extent, end=finding.extent.start)
    text = msgspec.json.format(msgspec.json.encode({_DISABLED: [name]}), indent=2).decode()
    return (
        TextFix(
            title=f"Turn it off for yourself: {_DISABLED} in {_LOCAL_SETTINGS}",
            extent=start,
            new_text="",
            is_sure=False,
            new_file=NewFile(path=str(path), text=f"{text}\n"),
        ),
    )
