"""What a file is to us, told by its path alone: nothing is read."""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import Final, Literal, TypeAlias

from ullage.formats.agent_info import AgentInfo, ToolServers
from ullage.formats.registry import AGENTS
from ullage.store.config.files import config_paths
from ullage.store.files.places import Places
from ullage.store.memory.places import DREAMS

DocumentKind: TypeAlias = Literal[
    "transcript",
    "instructions",
    "skill",
    "tools",
    "memory",
    "inbox",
    "checkpoint",
    "config",
    "preview",
]

ANYWHERE_NAMES: Final = (
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
)
"""What agents load from any folder: Codex and pi AGENTS.md, Claude Code CLAUDE.md, Gemini
GEMINI.md."""
TOP_NAMES: Final = (
    "SOUL.md",
    "IDENTITY.md",
    "USER.md",
    "TOOLS.md",
    "BOOTSTRAP.md",
    "HEARTBEAT.md",
)
"""What OpenClaw loads too, from the top of its workspace; a docs/USER.md is a page of a manual
(docs/design/assembly.md, "Bootstrap files")."""
INSTRUCTION_NAMES: Final = (*ANYWHERE_NAMES, *TOP_NAMES)
SKILL_NAME: Final = "SKILL.md"
_ANYWHERE: dict[str, DocumentKind] = {
    **dict.fromkeys(ANYWHERE_NAMES, "instructions"),
    SKILL_NAME: "skill",
}
MEMORY_NAME: Final = "MEMORY.md"
MEMORY_FOLDER: Final = "memory"
PREVIEW_NAME: Final = "proposed.md"
PREVIEW_FOLDER: Final = "previews"
AGENT_FOLDERS: Final = tuple(loader.folder for info in AGENTS for loader in info.loaders)
"""Of a user or of a workspace: what lies in one is for that agent alone."""
_IS_CASE_KEPT = sys.platform not in ("win32", "darwin")
"""Elsewhere the system gives an agent that asks for AGENTS.md an agents.md too."""
_TRANSCRIPT_ENDINGS = (".jsonl", ".jsonl.zst")
_GEMINI_DOCUMENT = re.compile(r"session-.*\.json")
"""One JSON document, as versions of the Gemini CLI before its JSON Lines wrote; in `chats`."""
_CHECKPOINT_NAME = re.compile(r"cp_[0-9]{3,}\.yaml")


def document_kind(path: Path, places: Places, workspaces: Sequence[Path]) -> DocumentKind | None:
    """Classify a file by its path; None for one that Ullage does not handle.

    What agents load by its name from any folder is so in any. All else is what it is only where
    it counts: in an agent's folder, or at the top of a workspace.
    """
    if path.name.endswith(_TRANSCRIPT_ENDINGS) or _is_gemini_document(path):
        return "transcript"
    if path.is_relative_to(places.state_folder / PREVIEW_FOLDER):
        return "preview" if path.name == PREVIEW_NAME else None
    if _CHECKPOINT_NAME.fullmatch(path.name):
        is_ours = path.is_relative_to(places.state_folder / "context" / "checkpoints")
        return "checkpoint" if is_ours else None
    if path.name == DREAMS:
        # Elsewhere there is no memory that its items could come into.
        return "inbox" if path.parent in workspaces else None
    name = find_loaded_name(path.name)
    if name in _ANYWHERE:
        return _ANYWHERE[name]
    is_in_agents = not set(AGENT_FOLDERS).isdisjoint(path.parts)
    memory = _find_memory_folder(path, workspaces) if path.suffix == ".md" else None
    folder = path.parent if memory is None else memory.parent
    if is_in_agents or is_at_top(folder, workspaces):
        if name in TOP_NAMES:
            return "instructions"
        if name == MEMORY_NAME or memory is not None:
            return "memory"
    is_tools = find_server_agent(path, places, workspaces) is not None
    return "tools" if is_tools else "config" if _is_config(path, places, workspaces) else None


def _find_memory_folder(path: Path, workspaces: Sequence[Path]) -> Path | None:
    """Give the memory that a file is in: a workspace's, however deep, or the folder it lies in."""
    tops = (workspace / MEMORY_FOLDER for workspace in workspaces)
    around = next((folder for folder in tops if path.is_relative_to(folder)), None)
    return around or (path.parent if path.parent.name == MEMORY_FOLDER else None)


def find_loaded_name(name: str, *, is_case_kept: bool = _IS_CASE_KEPT) -> str:
    """Give the name by which an agent asks for a file."""
    if is_case_kept:
        return name
    names = (*INSTRUCTION_NAMES, MEMORY_NAME)
    return next((loaded for loaded in names if loaded.casefold() == name.casefold()), name)


def is_at_top(folder: Path, workspaces: Sequence[Path]) -> bool:
    """Whether a folder is the top of a workspace, or may be that of one that is not open."""
    around = [workspace for workspace in workspaces if folder.is_relative_to(workspace)]
    return not around or folder in around


def _is_gemini_document(path: Path) -> bool:
    return path.parent.name == "chats" and _GEMINI_DOCUMENT.fullmatch(path.name) is not None


def find_server_agent(
    path: Path, places: Places, workspaces: Sequence[Path]
) -> tuple[AgentInfo, ToolServers] | None:
    """Find the agent whose MCP servers a file configures."""
    for agent in AGENTS:
        servers = agent.tool_servers
        if servers is not None and _configures(servers, path, places, workspaces):
            return agent, servers
    return None


def list_server_files(places: Places) -> Iterator[str]:
    """List how the paths of files end that configure MCP servers."""
    for servers in filter(None, (agent.tool_servers for agent in AGENTS)):
        yield servers.file
        if users := _find_users_file(servers, places):
            yield "/".join(users.parts[-2:])


def _configures(
    servers: ToolServers, path: Path, places: Places, workspaces: Sequence[Path]
) -> bool:
    names = PurePath(servers.file).parts
    if path.parts[-len(names) :] == names and (len(names) > 1 or path.parent in workspaces):
        return True
    return path == _find_users_file(servers, places)


def _find_users_file(servers: ToolServers, places: Places) -> Path | None:
    home = servers.home
    name = PurePath(servers.file).name
    return None if home is None else home.root(places.env, places.home) / name


def _is_config(path: Path, places: Places, workspaces: Sequence[Path]) -> bool:
    return any(
        path == config
        for workspace in (None, *workspaces)
        for _, config in config_paths(places, workspace)
    )
