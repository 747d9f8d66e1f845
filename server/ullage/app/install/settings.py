"""What the settings of an agent have to say for Ullage to work in it, put in and taken back."""

import json
import shlex
import sys
import tomllib
from contextlib import suppress
from typing import cast

import msgspec

from ullage.app.install.agents import Agent, interpreter
from ullage.core.install import hook_settings, openclaw_settings
from ullage.core.install.hook_command import write_hook_command
from ullage.core.install.json_edit import Before, NotEditable, find_child, is_blank
from ullage.core.text.json5 import parse_json5
from ullage.core.text.positions import Positions
from ullage.core.text.tree import NotRead, ScalarNode
from ullage.errors import Unreadable
from ullage.store.install.agent_files import AgentFile, read_agent_file

CODEX_ROOT_KEYS = ("description", "hooks")
"""Codex 0.169 does not read a `hooks.json` that has any other (run)."""
_BOM = "\ufeff"


class Edited(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    before: Before
    """What must be known to take it back."""


def install(agent: Agent, file: AgentFile, before: Before | None) -> Edited:
    """Give the settings with Ullage in them; the same text where it is in them.

    Raises:
        Unreadable: the file is no text that the agent reads itself.
    """
    text = text_of(agent, file)
    try:
        if agent.program is not None:
            folder = str(agent.program)
            return Edited(
                text=openclaw_settings.add_plugin(text, folder, before),
                before=openclaw_settings.note_before_plugin(text, folder, before),
            )
        command = write_hook_command(interpreter(), agent.name, is_windows=sys.platform == "win32")
        return Edited(
            text=hook_settings.add_hooks(text, agent.name, command, before),
            before=hook_settings.note_before_hooks(text, agent.name, before),
        )
    except NotEditable as error:
        raise Unreadable(
            f"{file.path}: {error}: {agent.label} cannot use it either. Correct it; nothing was"
            " written"
        ) from None


def take_back(agent: Agent, file: AgentFile, before: Before | None) -> str:
    """Give the settings without Ullage.

    Raises:
        Unreadable: the file is no text that the agent reads itself.
    """
    text = text_of(agent, file)
    if agent.program is not None:
        return openclaw_settings.remove_plugin(text, str(agent.program), before)
    return hook_settings.remove_hooks(text, agent.name, before)


def is_installed(agent: Agent, file: AgentFile) -> bool:
    """Whether there is anything of ours in the settings, by this interpreter or another."""
    return take_back(agent, file, None) != text_of(agent, file)


def hook_programs(agent: Agent, file: AgentFile) -> set[str]:
    """List what runs our hooks."""
    found = hook_settings.find_hooks(text_of(agent, file), agent.name)
    is_windows = sys.platform == "win32"
    return {shlex.split(one.command, posix=not is_windows)[0].strip('"') for one in found}


def text_of(agent: Agent, file: AgentFile) -> str:
    """Read settings as text, as strictly as their agent does.

    Raises:
        Unreadable: the agent would not read them.
    """
    try:
        text = (file.data or b"").decode("utf-8")
    except UnicodeDecodeError:
        raise _unusable(file, "it is not UTF-8: save it as UTF-8") from None
    if is_blank(text):
        return text
    try:
        parse_json5(text)
    except NotRead as error:
        line = Positions(text).position(error.offset).line
        raise _unusable(file, f"line {line + 1}: {error.problem}: {error.fix}") from None
    if agent.name != "openclaw":
        _require_json(agent, file, text)
    return text


def notes_on(agent: Agent, text: str) -> tuple[str, ...]:
    """Say what in the settings keeps Ullage from working, or from working alone."""
    match agent.name:
        case "claude-code":
            switch = None if is_blank(text) else find_child(parse_json5(text), "disableAllHooks")
            if isinstance(switch, ScalarNode) and switch.value is True:
                return ("`disableAllHooks` is on: Claude Code runs no hook until you remove it.",)
            return ()
        case "codex":
            return _codex_notes(agent)
        case "openclaw":
            return tuple(_openclaw_notes(text))
        case "pi":
            return ()


def _openclaw_notes(text: str) -> list[str]:
    notes: list[str] = []
    if (setting := openclaw_settings.find_off_switch(text)) is not None:
        notes.append(f"`{setting}` keeps OpenClaw from loading Ullage: change it.")
    if (other := openclaw_settings.find_other_provider(text)) is not None:
        notes.append(
            f'"{other}" goes on writing the summaries. For Ullage to write them, set'
            ' `agents.defaults.compaction.provider` to "ullage" yourself.'
        )
    return notes


def _codex_notes(agent: Agent) -> tuple[str, ...]:
    """Look into the other file that says something about hooks; a damaged one says nothing."""
    config: dict[str, object] = {}
    with suppress(Unreadable, tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        data = read_agent_file(agent.folder / "config.toml").data
        config = cast(dict[str, object], tomllib.loads((data or b"").decode("utf-8")))
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


def _require_json(agent: Agent, file: AgentFile, text: str) -> None:
    try:
        # Python makes no number of more than 4,300 digits; agents do, and we need none.
        value = cast(object, json.loads(text.removeprefix(_BOM), parse_int=str))
    except json.JSONDecodeError as error:
        raise _unusable(
            file,
            f"line {error.lineno}: {agent.label} reads plain JSON only ({error.msg.lower()}):"
            " correct it",
        ) from None
    if agent.name != "codex":
        return
    if text.startswith(_BOM):
        raise _unusable(file, "Codex reads no file with a byte order mark: save it without")
    others = (
        set(cast(dict[str, object], value)) - {*CODEX_ROOT_KEYS} if isinstance(value, dict) else ()
    )
    if others:
        raise _unusable(file, f"Codex does not know `{min(others)}` in it: remove that")


def _unusable(file: AgentFile, problem: str) -> Unreadable:
    return Unreadable(f"{file.path}: {problem}; nothing was written")
