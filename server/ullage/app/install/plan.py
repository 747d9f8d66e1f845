"""Install Ullage in a coding agent, and take it back: planned, shown, and made when agreed.

All is a list of changes of files. What activates the rest comes last when it is put in and first
when it goes, so that a process that is killed leaves nothing that only half works; the receipt
is there before the settings change.
"""

import hashlib
import json
import shlex
import sys
from pathlib import Path
from typing import Literal, TypeAlias, cast

import msgspec

from ullage.app.install import agents
from ullage.core.install import hook_settings, openclaw_settings, status_line_setting
from ullage.core.install.hook_settings import write_command
from ullage.core.install.json_edit import Before, NotEditable, is_blank
from ullage.core.text.json5 import parse_json5
from ullage.core.text.positions import Positions
from ullage.core.text.tree import ParseError
from ullage.errors import AgentNotFound, Unreadable
from ullage.store.files.places import Places
from ullage.store.files.programs import interpreter, package_folder
from ullage.store.install import agent_files
from ullage.store.install.agent_files import AgentFile

State: TypeAlias = Literal["not-found", "not-installed", "installed", "other", "unreadable"]
"""`other`: installed by another interpreter or another version, and replaced by `install`."""
_BOM = "\ufeff"


class InstallPlan(msgspec.Struct, frozen=True, kw_only=True):
    agent: agents.LocalTarget
    is_removal: bool
    settings: agent_files.FileChange | None = None
    """None where the settings stay as they are, or the agent has none that we change."""
    programs: tuple[agent_files.FileChange, ...] = ()
    receipt: agent_files.FileChange | None = None
    folders: tuple[Path, ...] = ()
    """Removed at the end where they are empty, in this order."""
    notes: tuple[str, ...] = ()

    @property
    def is_needed(self) -> bool:
        return self.settings is not None or bool(self.programs)


class InstallState(msgspec.Struct, frozen=True, kw_only=True):
    """Whether Ullage is installed in an agent."""

    agent: agents.LocalTarget
    state: State
    detail: str | None = None
    """Who runs it where another does, or why it cannot be told."""


class EditedSettings(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    before: Before
    """What must be known to take it back."""


def plan_install(name: str, places: Places) -> InstallPlan:
    """Plan what has to change for Ullage to work in an agent; nothing where it does already.

    Raises:
        AgentNotFound: the agent is not on this machine.
        Unreadable: a file of it is not what it should be.
    """
    agent = agents.find_target(name, places)
    if not agent.is_here:
        raise AgentNotFound(
            f"{agent.label} was not found: there is no {agent.folder}. Start it once, or name its"
            f" folder in {agent.target.home.variable}"
        )
    where = agent_files.receipt_path(agent.name, agent.folder, places)
    receipt = agent_files.read_receipt(where)
    programs = _programs(agent)
    settings, before, is_new, text = None, None, False, ""
    if agent.settings is not None:
        file = agent_files.read_agent_file(agent.settings)
        edited = install(agent, file, None if receipt is None else receipt.before)
        before, text = edited.before, edited.text
        is_ours = receipt is not None and receipt.is_settings_new
        is_new = file.data is None or (is_ours and is_installed(agent, file))
        settings = _change(file, edited.text.encode())
    changes = tuple(change for file, new in programs if (change := _change(file, new)) is not None)
    receipt = agent_files.InstallReceipt(
        before=before,
        is_settings_new=is_new,
        files=tuple((str(file.path), _digest(new)) for file, new in programs),
        folders=_list_made_folders(changes, receipt),
    )
    return InstallPlan(
        agent=agent,
        is_removal=False,
        settings=settings,
        programs=changes,
        receipt=_change(agent_files.read_agent_file(where), agent_files.encode_receipt(receipt)),
        notes=agent.target.find_notes(agent.folder, text),
    )


def plan_uninstall(name: str, places: Places) -> InstallPlan:
    """Plan to remove everything of Ullage from an agent, and nothing else.

    Raises:
        Unreadable: a file of the agent is not what it should be.
    """
    agent = agents.find_target(name, places)
    where = agent_files.receipt_path(agent.name, agent.folder, places)
    receipt = agent_files.read_receipt(where)
    settings = None
    if agent.settings is not None:
        file = agent_files.read_agent_file(agent.settings)
        left = take_back(agent, file, None if receipt is None else receipt.before)
        is_gone = not left and receipt is not None and receipt.is_settings_new
        settings = _change(file, None if is_gone else left.encode())
    programs, notes = _program_removals(agent, receipt)
    record = agent_files.read_agent_file(where)
    folders = () if receipt is None else tuple(Path(folder) for folder in receipt.folders)
    return InstallPlan(
        agent=agent,
        is_removal=True,
        settings=settings,
        programs=programs,
        receipt=_change(record, None),
        folders=tuple(dict.fromkeys((*_list_own_folders(agent), *folders, where.parent))),
        notes=notes,
    )


def make(plan: InstallPlan) -> None:
    """Make a planned change.

    Raises:
        ChangedMeanwhile: a file is not as it was when it was shown.
        StorageError: the system does not let us.
    """
    settings = () if plan.settings is None else (plan.settings,)
    receipt = () if plan.receipt is None else (plan.receipt,)
    if plan.is_removal:
        agent_files.make_changes((*settings, *plan.programs, *receipt))
        agent_files.remove_empty_folders(plan.folders)
    else:
        agent_files.make_changes((*plan.programs, *receipt, *settings))


def find_install_state(name: str, places: Places) -> InstallState:
    """Tell whether Ullage is installed in an agent; what cannot be read is told, not raised."""
    agent = agents.find_target(name, places)
    if not agent.is_here:
        return InstallState(agent=agent, state="not-found")
    try:
        if not plan_install(name, places).is_needed:
            return InstallState(agent=agent, state="installed")
        if not plan_uninstall(name, places).is_needed:
            return InstallState(agent=agent, state="not-installed")
        others = _interpreters(agent) - {
            interpreter(),
            interpreter().replace("\\", "/"),
        }
    except Unreadable as error:
        return InstallState(agent=agent, state="unreadable", detail=str(error))
    return InstallState(agent=agent, state="other", detail=min(others, default=None))


def _programs(agent: agents.LocalTarget) -> tuple[tuple[agent_files.AgentFile, bytes], ...]:
    """List the files of our program with what they are to hold."""
    if agent.program is None:
        return ()
    files = agent_files.packaged_files(*agent.target.packaged)
    files[agents.COMMAND_FILE] = msgspec.json.encode({"command": agents.service_command()}) + b"\n"
    return tuple(
        (agent_files.read_agent_file(agent.program / name), data) for name, data in files.items()
    )


def _program_removals(
    agent: agents.LocalTarget, receipt: agent_files.InstallReceipt | None
) -> tuple[tuple[agent_files.FileChange, ...], tuple[str, ...]]:
    """List the files of our program that go; one that somebody changed since stays."""
    if agent.program is None:
        return (), ()
    names = (*agent_files.packaged_files(*agent.target.packaged), agents.COMMAND_FILE)
    recorded = {} if receipt is None else dict(receipt.files)
    paths = dict.fromkeys((*map(Path, recorded), *(agent.program / name for name in names)))
    changes: list[agent_files.FileChange] = []
    notes: list[str] = []
    for path in paths:
        file = agent_files.read_agent_file(path)
        if file.data is None:
            continue
        if recorded.get(str(path), digest := _digest(file.data)) == digest:
            changes.append(agent_files.FileChange(file=file, new=None))
        else:
            notes.append(f"{path} was changed by somebody and stays: remove it yourself.")
    return tuple(changes), tuple(notes)


def _list_own_folders(agent: agents.LocalTarget) -> tuple[Path, ...]:
    return () if agent.program is None else (agent.program,)


def _list_made_folders(
    changes: tuple[agent_files.FileChange, ...], receipt: agent_files.InstallReceipt | None
) -> tuple[str, ...]:
    """List the folders that are made, or were at an earlier installation, deepest first."""
    made = dict.fromkeys(
        str(folder)
        for change in changes
        for folder in agent_files.missing_folders(change.file.path)
    )
    return tuple(dict.fromkeys((*made, *(() if receipt is None else receipt.folders))))


def _interpreters(agent: agents.LocalTarget) -> set[str]:
    if agent.settings is not None and agent.program is None:
        return find_hook_programs(agent, agent_files.read_agent_file(agent.settings))
    if agent.program is None:
        return set()
    data = agent_files.read_agent_file(agent.program / agents.COMMAND_FILE).data
    try:
        command = msgspec.json.decode(data or b"", type=dict[str, tuple[str, ...]])["command"]
    except (ValueError, RecursionError, KeyError):
        return set()
    return set(command[:1])


def _change(file: agent_files.AgentFile, new: bytes | None) -> agent_files.FileChange | None:
    return (
        None
        if file.data == new or (file.data is None and not new)
        else agent_files.FileChange(file=file, new=new)
    )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def install(agent: agents.LocalTarget, file: AgentFile, before: Before | None) -> EditedSettings:
    """Give the settings with Ullage in them; the same text where it is in them.

    Raises:
        Unreadable: the file is no text that the agent reads itself.
    """
    text = text_of(agent, file)
    try:
        if agent.program is not None:
            folder = str(agent.program)
            return EditedSettings(
                text=openclaw_settings.add_plugin(text, folder, before),
                before=openclaw_settings.note_before_plugin(text, folder, before),
            )
        name, hooks = agent.name, agent.target.hooks
        new = hook_settings.add_hooks(text, name, hooks, _command(agent, "hook", name), before)
        if agent.target.has_status_line:
            command = _command(agent, *status_line_setting.ARGUMENTS)
            new = status_line_setting.add_status_line(new, command)
        bare = status_line_setting.remove_status_line(text, before)
        noted = hook_settings.note_before_hooks(bare, name, hooks, before)
        return EditedSettings(text=new, before=noted)
    except NotEditable as error:
        raise Unreadable(
            f"{file.path}: {error}: {agent.label} cannot use it either. Correct it; nothing was"
            " written"
        ) from None


def take_back(agent: agents.LocalTarget, file: AgentFile, before: Before | None) -> str:
    """Give the settings without Ullage.

    Raises:
        Unreadable: the file is no text that the agent reads itself.
    """
    text = text_of(agent, file)
    if agent.program is not None:
        return openclaw_settings.remove_plugin(text, str(agent.program), before)
    if agent.target.has_status_line:
        text = status_line_setting.remove_status_line(text, before)
    return hook_settings.remove_hooks(text, agent.name, before)


def _command(agent: agents.LocalTarget, *arguments: str) -> str:
    return write_command(
        arguments,
        interpreter(),
        package_folder(),
        is_windows=sys.platform == "win32",
        takes_bash=agent.target.takes_bash,
    )


def is_installed(agent: agents.LocalTarget, file: AgentFile) -> bool:
    """Whether the settings hold anything of Ullage, by this interpreter or another."""
    return take_back(agent, file, None) != text_of(agent, file)


def find_hook_programs(agent: agents.LocalTarget, file: AgentFile) -> set[str]:
    """List what runs our hooks."""
    hooks = hook_settings.find_hooks(text_of(agent, file), agent.name)
    is_windows = sys.platform == "win32"
    return {shlex.split(hook.command, posix=not is_windows)[0].strip('"') for hook in hooks}


def text_of(agent: agents.LocalTarget, file: AgentFile) -> str:
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
    except ParseError as error:
        line = Positions(text).position(error.offset).line
        raise _unusable(file, f"line {line + 1}: {error.problem}: {error.fix}") from None
    if not agent.target.reads_json5:
        _require_json(agent, file, text)
    return text


def _require_json(agent: agents.LocalTarget, file: AgentFile, text: str) -> None:
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
