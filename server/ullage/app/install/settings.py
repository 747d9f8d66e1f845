"""What the settings of an agent have to say for Ullage to work in it, put in and taken back."""

import json
import shlex
import sys
from typing import cast

import msgspec

from ullage.app.install.agents import LocalTarget, interpreter
from ullage.core.install import hook_settings, openclaw_settings
from ullage.core.install.hook_command import write_hook_command
from ullage.core.install.json_edit import Before, NotEditable, is_blank
from ullage.core.text.json5 import parse_json5
from ullage.core.text.positions import Positions
from ullage.core.text.tree import NotRead
from ullage.errors import Unreadable
from ullage.store.install.agent_files import AgentFile

_BOM = "\ufeff"


class Edited(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    before: Before
    """What must be known to take it back."""


def install(agent: LocalTarget, file: AgentFile, before: Before | None) -> Edited:
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
        name, hooks = agent.name, agent.target.hooks
        command = write_hook_command(
            interpreter(),
            name,
            is_windows=sys.platform == "win32",
            takes_bash=agent.target.takes_bash,
        )
        return Edited(
            text=hook_settings.add_hooks(text, name, hooks, command, before),
            before=hook_settings.note_before_hooks(text, name, hooks, before),
        )
    except NotEditable as error:
        raise Unreadable(
            f"{file.path}: {error}: {agent.label} cannot use it either. Correct it; nothing was"
            " written"
        ) from None


def take_back(agent: LocalTarget, file: AgentFile, before: Before | None) -> str:
    """Give the settings without Ullage.

    Raises:
        Unreadable: the file is no text that the agent reads itself.
    """
    text = text_of(agent, file)
    if agent.program is not None:
        return openclaw_settings.remove_plugin(text, str(agent.program), before)
    return hook_settings.remove_hooks(text, agent.name, before)


def is_installed(agent: LocalTarget, file: AgentFile) -> bool:
    """Whether there is anything of ours in the settings, by this interpreter or another."""
    return take_back(agent, file, None) != text_of(agent, file)


def hook_programs(agent: LocalTarget, file: AgentFile) -> set[str]:
    """List what runs our hooks."""
    found = hook_settings.find_hooks(text_of(agent, file), agent.name)
    is_windows = sys.platform == "win32"
    return {shlex.split(one.command, posix=not is_windows)[0].strip('"') for one in found}


def text_of(agent: LocalTarget, file: AgentFile) -> str:
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
    if not agent.target.reads_json5:
        _require_json(agent, file, text)
    return text


def _require_json(agent: LocalTarget, file: AgentFile, text: str) -> None:
    try:
        # Python makes no number of more than 4,300 digits; agents do, and we need none.
        value = cast(object, json.loads(text.removeprefix(_BOM), parse_int=str))
    except json.JSONDecodeError as error:
        raise _unusable(
            file,
            f"line {error.lineno}: {agent.label} reads plain JSON only ({error.msg.lower()}):"
            " correct it",
        ) from None
    root_keys = agent.target.root_keys
    if not root_keys:
        return
    if text.startswith(_BOM):
        raise _unusable(
            file, f"{agent.label} reads no file with a byte order mark: save it without"
        )
    others = set(cast(dict[str, object], value)) - {*root_keys} if isinstance(value, dict) else ()
    if others:
        raise _unusable(file, f"{agent.label} does not know `{min(others)}` in it: remove that")


def _unusable(file: AgentFile, problem: str) -> Unreadable:
    return Unreadable(f"{file.path}: {problem}; nothing was written")
