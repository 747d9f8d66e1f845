"""The agents that Ullage can be installed in: where each keeps its settings and our program."""

import sys
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import msgspec

from ullage.core.install.hook_command import OPTIONS
from ullage.store.files.places import Places

AgentName: TypeAlias = Literal["claude-code", "codex", "pi", "openclaw"]
AGENT_NAMES: tuple[AgentName, ...] = get_args(AgentName)
COMMAND_FILE = "command.json"
"""Beside our program in an agent: how to start the service (`data/agents/shared/client.ts`)."""


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent on this machine."""

    name: AgentName
    label: str
    folder: Path
    """Made by the agent at its first start; without it the agent is not here."""
    variable: str
    """Of the environment; names that folder where it lies elsewhere."""
    settings: Path | None
    program: Path | None
    """The folder of our program in it; None where hooks do."""
    packaged: tuple[str, ...] = ()
    """The folders of `data/agents` that the program is made of."""

    @property
    def is_here(self) -> bool:
        return self.folder.is_dir()


def agent_of(name: AgentName, places: Places) -> Agent:
    match name:
        case "claude-code":
            folder = _folder(places, "CLAUDE_CONFIG_DIR", ".claude")
            return Agent(
                name=name,
                label="Claude Code",
                folder=folder,
                variable="CLAUDE_CONFIG_DIR",
                settings=folder / "settings.json",
                program=None,
            )
        case "codex":
            folder = _folder(places, "CODEX_HOME", ".codex")
            return Agent(
                name=name,
                label="Codex",
                folder=folder,
                variable="CODEX_HOME",
                settings=folder / "hooks.json",
                program=None,
            )
        case "pi":
            folder = _folder(places, "PI_CODING_AGENT_DIR", ".pi/agent")
            return Agent(
                name=name,
                label="pi",
                folder=folder,
                variable="PI_CODING_AGENT_DIR",
                settings=None,
                program=folder / "extensions" / "ullage",
                packaged=("pi", "shared"),
            )
        case "openclaw":
            folder = _folder(places, "OPENCLAW_STATE_DIR", ".openclaw")
            chosen = places.env.get("OPENCLAW_CONFIG_PATH")
            return Agent(
                name=name,
                label="OpenClaw",
                folder=folder,
                variable="OPENCLAW_STATE_DIR",
                settings=Path(chosen).expanduser() if chosen else folder / "openclaw.json",
                program=places.state_folder / "agents" / "openclaw",
                packaged=("openclaw", "shared"),
            )


def service_command() -> tuple[str, ...]:
    """Give the command that starts the service for agents, by this very interpreter."""
    return (interpreter(), *OPTIONS, "agent")


def interpreter() -> str:
    """Name the interpreter that runs us; the link of a virtual environment is not followed."""
    # Not `resolve`: behind the link the packages of the environment are not found.
    return str(Path(sys.executable).absolute())


def _folder(places: Places, variable: str, default: str) -> Path:
    chosen = places.env.get(variable)
    return Path(chosen).expanduser().absolute() if chosen else places.home / default
