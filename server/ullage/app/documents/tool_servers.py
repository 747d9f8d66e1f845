"""Findings where MCP servers are configured, by the last session of the workspace."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from ullage.app.documents.check import Surroundings
from ullage.app.documents.kind import find_server_agent
from ullage.app.sessions.find import list_sessions
from ullage.app.sessions.load import read
from ullage.app.sessions.session import Session
from ullage.core.assembly.advice import count_tools
from ullage.core.documents.finding import DocumentFinding, NewFile, TextFix
from ullage.core.documents.tool_servers import ServerSize, find_large_servers
from ullage.core.gauge.breakdown import MIN_GAIN_TOKENS
from ullage.core.transcript.tokens import estimate_tokens
from ullage.errors import InputError
from ullage.formats.agent_info import AgentInfo, ToolServers
from ullage.formats.json_line import texts_of
from ullage.store.config.agent_settings import read_settings_files
from ullage.store.files.places import Places
from ullage.store.files.text_files import exists
from ullage.store.transcript.reader import Fingerprint, look_at

_KNOWN_TRANSCRIPTS = 64
"""Whose sizes are remembered as long as they do not change (chosen)."""

_remembered: dict[tuple[Path, Fingerprint], Mapping[str, ServerSize]] = {}
"""What the servers took of a transcript's window; one that changed is measured again."""


def check_tool_servers(path: Path, text: str, around: Surroundings) -> Iterator[DocumentFinding]:
    """Tell of servers that fill the window; nothing before there is a session."""
    found = find_server_agent(path, around.places, around.workspaces)
    workspace = around.workspace_of(path) or next(iter(around.workspaces), None)
    if found is None or workspace is None:
        return
    agent, servers = found
    places = around.places.for_reading(is_read_only=around.config.policy.is_read_only)
    entries = tuple(servers.list_servers(text))
    if not entries:
        return
    sizes = _find_sizes(agent, workspace, places)
    off = _list_off(agent, servers, workspace, places)
    for server, finding in find_large_servers(text, entries, sizes, off, MIN_GAIN_TOKENS):
        own = _turn_off_for_user(server.name, servers, workspace, finding)
        yield msgspec.structs.replace(finding, fixes=(*own, *finding.fixes))


def _find_sizes(agent: AgentInfo, workspace: Path, places: Places) -> Mapping[str, ServerSize]:
    """Give what each server took of the window of the workspace's last session."""
    sessions = list_sessions(workspace, places)
    newest = next((session for session in sessions if session.agent_info == agent), None)
    if newest is None:
        return {}
    try:
        key = newest.path, look_at(newest.path)
        sizes = _remembered.get(key)
        if sizes is None:
            sizes = _measure_servers(newest, places)
    except InputError:
        return {}
    if len(_remembered) >= _KNOWN_TRANSCRIPTS:
        _remembered.clear()
    _remembered[key] = sizes
    return sizes


def _measure_servers(session: Session, places: Places) -> dict[str, ServerSize]:
    # A tokenizer would hold the server up for 0.3 s: an estimate tells enough.
    context = read(session, places).context
    texts = session.agent.list_sent_texts(session.lines, context)
    return {
        tool.name: ServerSize(
            n_tokens=tool.n_tokens, n_described=tool.n_described, n_results=tool.n_results
        )
        for tool in count_tools(texts, context.items, estimate_tokens)
        if tool.is_server
    }


def _list_off(
    agent: AgentInfo, servers: ToolServers, workspace: Path, places: Places
) -> frozenset[str]:
    """List those that the user's settings turn off."""
    paths = agent.setting_files(workspace, workspace, places.env, places.home)
    files = read_settings_files(paths) if servers.off_key else ()
    return frozenset(name for file in files for name in texts_of(file.content, servers.off_key))


def _turn_off_for_user(
    name: str, servers: ToolServers, workspace: Path, finding: DocumentFinding
) -> tuple[TextFix, ...]:
    """Offer the user's own settings, where there are none yet that would have to be changed."""
    path = workspace / servers.off_file
    if not servers.off_file or exists(path):
        return ()
    start = msgspec.structs.replace(finding.extent, end=finding.extent.start)
    text = msgspec.json.format(msgspec.json.encode({servers.off_key: [name]}), indent=2).decode()
    return (
        TextFix(
            title=f"Turn it off for yourself: {servers.off_key} in {servers.off_file}",
            extent=start,
            new_text="",
            is_sure=False,
            new_file=NewFile(path=str(path), text=f"{text}\n"),
        ),
    )
