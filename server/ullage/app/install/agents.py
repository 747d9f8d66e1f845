"""The programs that Ullage can be installed in: where each keeps its settings and our program."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import cast

import msgspec

from ullage.core.install.hook_settings import HOOKS, OPTIONS, Hook
from ullage.errors import Unreadable
from ullage.formats.agent_info import Home
from ullage.formats.agents.claude_code.agent import CLAUDE_CODE
from ullage.formats.agents.codex.agent import CODEX
from ullage.formats.agents.openclaw.agent import OPENCLAW
from ullage.formats.agents.openclaw.settings import STATE_HOME
from ullage.store.config.agent_settings import parse_toml
from ullage.store.files.places import Places
from ullage.store.files.programs import interpreter
from ullage.store.files.text_files import is_folder

COMMAND_FILE = "command.json"
"""Beside our program in an agent: how to start the service (`data/agents/shared/client.ts`)."""


def _no_notes(folder: Path, settings: str) -> tuple[str, ...]:
    del folder, settings
    return ()


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A program that Ullage can be installed in. pi and OpenClaw are two, though one agent."""

    name: str
    label: str
    home: Home
    """Its folder. It is made at the first start."""
    settings: str | None = None
    """In that folder; None where there are none that we change."""
    settings_variable: str = ""
    """Of the environment; names the settings where they lie elsewhere."""
    reads_json5: bool = False
    root_keys: tuple[str, ...] = ()
    """The only keys that its settings may have, without a byte order mark; empty for any."""
    hooks: tuple[Hook, ...] = ()
    """What its settings are to run; empty where our program is what it loads."""
    has_status_line: bool = False
    """Whether its settings name the command of its status line."""
    takes_bash: bool = False
    """Whether it runs hooks by Git Bash on Windows."""
    program: str | None = None
    """The folder of our program in its own folder, or in ours where its settings name it."""
    packaged: tuple[str, ...] = ()
    """The folders of `data/agents` that the program is made of."""
    next_step: str
    """What users have to do before it works."""
    find_notes: Callable[[Path, str], tuple[str, ...]] = _no_notes
    """Says what in its folder and its settings keeps Ullage from working, or from working alone."""


class LocalTarget(msgspec.Struct, frozen=True, kw_only=True):
    """A target on this machine."""

    target: Target
    folder: Path
    """Without it the program is not here."""
    settings: Path | None
    program: Path | None
    """The folder of our program; None where hooks do."""

    @property
    def name(self) -> str:
        return self.target.name

    @property
    def label(self) -> str:
        return self.target.label

    @property
    def is_here(self) -> bool:
        return is_folder(self.folder)


def find_target(name: str, places: Places) -> LocalTarget:
    """Find where a target is on this machine, or would be."""
    target = next(target for target in TARGETS if target.name == name)
    folder = target.home.root(places.env, places.home).absolute()
    settings = None if target.settings is None else folder / target.settings
    chosen = places.env.get(target.settings_variable)
    program = None
    if target.program is not None:
        # Settings that we change can name our own folder; else the program lies where it is found.
        root = folder if settings is None else places.state_folder
        program = root / target.program
    return LocalTarget(
        target=target,
        folder=folder,
        settings=Path(chosen).expanduser() if chosen else settings,
        program=program,
    )


def service_command() -> tuple[str, ...]:
    """Give the command that starts the service for agents, by this very interpreter."""
    return (interpreter(), *OPTIONS, "agent")


def _claude_code_notes(folder: Path, settings: str) -> tuple[str, ...]:
    from ullage.core.install.json_edit import find_child, is_blank
    from ullage.core.install.status_line_setting import has_other_status_line
    from ullage.core.text.json5 import parse_json5
    from ullage.core.text.tree import ScalarNode

    del folder
    notes: list[str] = []
    switch = None if is_blank(settings) else find_child(parse_json5(settings), "disableAllHooks")
    if isinstance(switch, ScalarNode) and switch.value is True:
        notes.append("`disableAllHooks` is on: Claude Code runs no hook until you remove it.")
    if has_other_status_line(settings):
        notes.append(
            "your own status line stays. To have the gauge in it, let its command give its input to"
            " `ullage statusline` too; without `statusLine`, `ullage install` sets ours."
        )
    return tuple(notes)


def _codex_notes(folder: Path, settings: str) -> tuple[str, ...]:
    """Look into the other file that says something about hooks; a damaged one says nothing."""
    from ullage.store.install.agent_files import read_agent_file

    del settings
    config: dict[str, object] = {}
    with suppress(Unreadable, ValueError, RecursionError):
        data = read_agent_file(folder / "config.toml").data
        config = parse_toml(data or b"")
    features, hooks = config.get("features"), config.get("hooks")
    notes: list[str] = []
    if isinstance(features, dict):
        switches = cast(dict[str, object], features)
        if switches.get("hooks", switches.get("codex_hooks")) is False:
            notes.append(
                "`features.hooks` is off in config.toml: Codex runs no hook until it is on."
            )
    if isinstance(hooks, dict) and set(cast(dict[str, object], hooks)) - {"state"}:
        notes.append("config.toml has hooks too: Codex runs both, and says so at its start.")
    return tuple(notes)


def _openclaw_notes(folder: Path, settings: str) -> tuple[str, ...]:
    from ullage.core.install import openclaw_settings

    del folder
    notes: list[str] = []
    if (setting := openclaw_settings.find_off_switch(settings)) is not None:
        notes.append(f"`{setting}` keeps OpenClaw from loading Ullage: change it.")
    if (provider := openclaw_settings.find_other_provider(settings)) is not None:
        notes.append(
            f'"{provider}" goes on writing the summaries. For Ullage to write them, set'
            ' `agents.defaults.compaction.provider` to "ullage" yourself.'
        )
    return tuple(notes)


TARGETS = (
    Target(
        name="claude-code",
        label="Claude Code",
        home=CLAUDE_CODE.homes[0],
        settings="settings.json",
        hooks=(*HOOKS, Hook(event="PostToolUseFailure", timeout_s=10)),
        has_status_line=True,
        takes_bash=True,
        next_step="Sessions that you start from now on use it.",
        find_notes=_claude_code_notes,
    ),
    Target(
        name="codex",
        label="Codex",
        home=CODEX.homes[0],
        settings="hooks.json",
        # Codex 0.169 does not read a `hooks.json` that has any other (run).
        root_keys=("description", "hooks"),
        hooks=HOOKS,
        next_step="Codex runs new hooks only once you trust them: start it, type /hooks, and trust"
        " those of Ullage. Until then they do nothing.",
        find_notes=_codex_notes,
    ),
    Target(
        name="pi",
        label="pi",
        home=OPENCLAW.homes[-1],
        program="extensions/ullage",
        packaged=("pi", "shared"),
        next_step="pi loads it at its next start, and after /reload.",
    ),
    Target(
        name="openclaw",
        label="OpenClaw",
        home=STATE_HOME,
        settings="openclaw.json",
        settings_variable="OPENCLAW_CONFIG_PATH",
        reads_json5=True,
        program="agents/openclaw",
        packaged=("openclaw", "shared"),
        next_step="OpenClaw's gateway loads it when it sees the change; if it does not, restart it"
        " with `openclaw gateway restart`.",
        find_notes=_openclaw_notes,
    ),
)
