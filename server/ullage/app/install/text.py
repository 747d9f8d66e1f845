"""What an installation changes, as text and as JSON: the exact lines, before anything is done."""

import codecs
import difflib
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from ullage.app.install.plan import InstallPlan, InstallState, State
from ullage.core.secrets.scan import list_known_secrets, mask
from ullage.core.text.json5 import parse_json5
from ullage.core.text.tree import ListNode, MappingNode, Node, ParseError, ScalarNode
from ullage.store.files.places import Places
from ullage.store.install.agent_files import FileChange

WIDTH = 80
CONTEXT_LINES = 2
"""Around a change: enough to see where it is; the settings of others are not ours to print."""
_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_STATES: dict[State, str] = {
    "not-found": "not found on this machine",
    "not-installed": "not installed",
    "installed": "installed",
    "other": "installed, but not by this Ullage",
    "unreadable": "cannot be told",
}
Kind: TypeAlias = Literal["create", "edit", "remove"]


class FileReport(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    change: Kind
    diff: str
    """Unified, secrets masked."""


class PlanReport(msgspec.Struct, frozen=True, kw_only=True):
    agent: str
    action: Literal["install", "uninstall"]
    is_needed: bool
    """False where it is as wanted already, and nothing changes."""
    is_done: bool
    files: tuple[FileReport, ...]
    notes: tuple[str, ...]
    next: str | None
    """What the user has to do then."""


class InstallStateReport(msgspec.Struct, frozen=True, kw_only=True):
    agent: str
    state: State
    folder: str
    detail: str | None


class InstallStatesReport(msgspec.Struct, frozen=True, kw_only=True):
    agents: tuple[InstallStateReport, ...]
    schedule: InstallStateReport
    """Of the current folder."""


def report_plan(plan: InstallPlan, places: Places, *, is_done: bool) -> PlanReport:
    return PlanReport(
        agent=plan.agent.name,
        action="uninstall" if plan.is_removal else "install",
        is_needed=plan.is_needed,
        is_done=is_done and plan.is_needed,
        files=tuple(
            report_file(change, str(change.file.path), places) for change in _list_shown(plan)
        ),
        notes=plan.notes,
        next=None if plan.is_removal else plan.agent.target.next_step,
    )


def report_file(
    change: FileChange, name: str, places: Places, n_context: int = CONTEXT_LINES
) -> FileReport:
    diff = "\n".join(diff_lines(change, name, places, n_context))
    return FileReport(path=str(change.file.path), change=kind_of(change), diff=diff)


def plan_lines(plan: InstallPlan, places: Places) -> Iterator[str]:
    """Yield what is shown before the question: each change of settings line by line."""
    if not plan.is_needed:
        is_not = "not" if plan.is_removal else "already"
        yield f"Ullage is {is_not} installed in {plan.agent.label}; nothing changes."
    for change in _list_shown(plan):
        path = shorten_path(change.file.path, places)
        if change is not plan.settings and kind_of(change) != "edit":
            yield f"{path} ({'removed' if change.new is None else _new_file(change.new)})"
            continue
        yield from diff_lines(change, path, places)
        if change.file.target != change.file.path:
            yield f"({path} is a link: {change.file.target} is changed.)"
    for note in plan.notes:
        yield from textwrap.wrap(f"Note: {note}", WIDTH, break_long_words=False)


def question(plan: InstallPlan) -> str:
    if plan.is_removal:
        return f"Take Ullage out of {plan.agent.label}?"
    return f"Install Ullage in {plan.agent.label}?"


def done_text(plan: InstallPlan) -> str:
    name, label, target = plan.agent.name, plan.agent.label, plan.agent.target
    if plan.is_removal:
        return f"Ullage is no longer in {label}."
    text = (
        f"Installed in {label}. {target.next_step} `ullage uninstall {name}` takes all of it back."
    )
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def install_states_text(report: InstallStatesReport) -> str:
    rows = (*report.agents, report.schedule)
    width = max(len(row.agent) for row in rows)
    lines: list[str] = []
    for row in rows:
        where = " (this folder)" if row is report.schedule else ""
        lines.append(f"{row.agent:<{width}}  {_STATES[row.state]}{where}")
        if row.detail is not None:
            is_program = row.state == "other" and row is not report.schedule
            lines += textwrap.wrap(
                f"run by {row.detail}" if is_program else row.detail,
                WIDTH,
                initial_indent="  ",
                subsequent_indent="  ",
                break_long_words=False,
            )
    if any(row.state in ("not-installed", "other") for row in rows):
        lines.append("`ullage install NAME` shows what it would change, and asks.")
    return "\n".join(lines)


def report_install_states(
    standings: tuple[InstallState, ...], schedule: InstallStateReport
) -> InstallStatesReport:
    return InstallStatesReport(
        agents=tuple(
            InstallStateReport(
                agent=standing.agent.name,
                state=standing.state,
                folder=str(standing.agent.folder),
                detail=standing.detail,
            )
            for standing in standings
        ),
        schedule=schedule,
    )


def _list_shown(plan: InstallPlan) -> tuple[FileChange, ...]:
    """List what changes in the agent's folders; the receipt is left out."""
    if not plan.is_needed:
        return ()
    return (*plan.programs, *(() if plan.settings is None else (plan.settings,)))


def kind_of(change: FileChange) -> Kind:
    if change.new is None:
        return "remove"
    return "create" if change.file.data is None else "edit"


def diff_lines(
    change: FileChange, name: str, places: Places, n_context: int = CONTEXT_LINES
) -> Iterator[str]:
    """Yield a change as a unified diff, secrets masked."""
    old, new = _text(change.file.data), _text(change.new)
    secrets = (*list_known_secrets(places.env), *_find_secrets(old))
    lines = difflib.unified_diff(
        _lines(old),
        _lines(new),
        fromfile=name if change.file.data is not None else "(no file)",
        tofile=name if change.new is not None else "(no file)",
        n=n_context,
        lineterm="",
    )
    for line in lines:
        yield mask(line, secrets)


def _text(data: bytes | None) -> str:
    is_utf_16 = data is not None and data.startswith(codecs.BOM_UTF16_LE)
    return (data or b"").decode("utf-16" if is_utf_16 else "utf-8", "replace")


def _lines(text: str) -> list[str]:
    """Split a text at its line ends, and tell where the last line has none."""
    *lines, last = _LINE_BREAK.split(text)
    return [*lines, last + " (no line end)"] if last else lines


def _new_file(data: bytes) -> str:
    n_lines = len(_lines(_text(data)))
    return f"new, {n_lines} line{'s' if n_lines != 1 else ''}"


def _find_secrets(text: str) -> tuple[str, ...]:
    """List the values in settings that are secret by their keys, as in `env`."""
    try:
        root = parse_json5(text)
    except ParseError:
        return ()
    return list_known_secrets(dict(_named_texts(root)))


def _named_texts(node: Node) -> Iterator[tuple[str, str]]:
    match node:
        case ScalarNode():
            return
        case ListNode():
            for item in node.items:
                yield from _named_texts(item)
        case MappingNode():
            for member in node.members:
                if isinstance(member.node, ScalarNode) and isinstance(member.node.value, str):
                    yield member.key, member.node.value
                yield from _named_texts(member.node)


def shorten_path(path: Path, places: Places) -> str:
    if path.is_relative_to(places.home):
        return str(Path("~") / path.relative_to(places.home))
    return str(path)
