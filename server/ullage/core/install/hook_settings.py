"""The hooks of Claude Code and Codex in their settings: ours among those of others.

Both keep `{"hooks": {EVENT: [{"matcher"?, "hooks": [{"type", "command", "timeout"}]}]}}`
(docs/design/agents.md, "Hooks"). A handler is ours by its command alone, so that what a user
changed beside it (a matcher, a timeout) stays.
"""

import json
import re
import shlex
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress

import msgspec

from ullage.core.install import json_edit
from ullage.core.text.json5 import parse_json5
from ullage.core.text.tree import ListNode, MappingNode, Node, ScalarNode, ScalarValue

_HOOKS_KEY = "hooks"
OPTIONS = ("-P", "-m", "ullage")
"""Without `-P`, Python would look for modules in the project's folder first, where a hook runs."""
HOOK_OPTIONS = ("-E", "-P", "-S", "-c")
"""A hook looks at no variable of Python's, and for packages only where it goes the long way."""
_START = "import sys; sys.path.append({folder}); from ullage.__main__ import main; main()"
"""Not the path of a file: where there is none, Python ends with 2, which stops a user's prompt."""
_STARTED = re.compile(r'"(?:[^"\\]|\\.)*"'.join(map(re.escape, _START.split("{folder}"))))
_WINDOWS_OPTIONS = ("-E", *OPTIONS)
_PROGRAMS = ("ullage", "ullage.exe")
_PYTHON = re.compile(r"(?:python|pypy)w?[\d.]*(?:t|d|_d)?(?:\.exe)?")
"""By the names that `sys.executable` has: also `python3.13t`, which has no global lock."""
_PLAIN_PATH = re.compile(r"[\w.:/\\+~-]+\Z", re.ASCII)


class InstalledHook(msgspec.Struct, frozen=True, kw_only=True):
    """A handler that Ullage installed."""

    event: str
    command: str
    command_route: json_edit.Route
    whole_route: json_edit.Route
    """Of what goes with it: its group where it is alone in it, else itself."""
    matcher: ScalarValue
    matcher_route: json_edit.Route | None
    """None where the group has no matcher, or others are in it too."""


class Hook(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be run at an event."""

    event: str
    matcher: str | None = None
    earlier_matcher: str | None = None
    """What we wrote before: it is renewed, where what a user wrote stays."""
    timeout_s: int


HOOKS = (
    Hook(event="PreCompact", timeout_s=30),
    Hook(
        event="SessionStart",
        matcher="compact|resume|startup|clear",
        earlier_matcher="compact|resume",
        timeout_s=10,
    ),
    Hook(event="PostToolUse", timeout_s=10),
    Hook(event="UserPromptSubmit", timeout_s=10),
)
"""What all agents have. A hook takes less than 0.15 s; a checkpoint of a long session a few
seconds. The times are chosen so that an agent never waits long for one that hangs: the default
is 10 minutes."""


def find_hooks(text: str, agent: str) -> tuple[InstalledHook, ...]:
    """List our handlers, in the order of the text.

    Raises:
        ParseError: the text is not JSON5.
    """
    return () if json_edit.is_blank(text) else tuple(_find_ours(parse_json5(text), agent))


def add_hooks(
    text: str, agent: str, wanted: Sequence[Hook], command: str, before: json_edit.Before | None
) -> str:
    """Give the text with each wanted hook once, run by this interpreter, with today's matcher.

    Raises:
        ParseError: the text is not JSON5.
        NotEditable: the hooks are of another shape than the agent's.
    """
    hooks = {hook.event: hook for hook in wanted}
    while extra := _find_extra(find_hooks(text, agent), hooks.keys()):
        text = json_edit.remove(text, extra.whole_route, before)
    for installed in find_hooks(text, agent):
        if installed.command != command:
            text = json_edit.replace_scalar(text, installed.command_route, command)
        hook, route = hooks[installed.event], installed.matcher_route
        is_earlier = hook.earlier_matcher is not None and installed.matcher == hook.earlier_matcher
        if route is not None and is_earlier:
            text = json_edit.replace_scalar(text, route, hook.matcher)
    there = {installed.event for installed in find_hooks(text, agent)}
    for hook in wanted:
        if hook.event not in there:
            text = json_edit.append_item(text, (_HOOKS_KEY, hook.event), _make_group(hook, command))
    return text


def remove_hooks(text: str, agent: str, before: json_edit.Before | None) -> str:
    """Give the text without our hooks, and without what only held them.

    Raises:
        ParseError: the text is not JSON5.
    """
    while hooks := find_hooks(text, agent):
        text = json_edit.remove(text, hooks[-1].whole_route, before)
    return text


def note_before_hooks(
    text: str, agent: str, wanted: Sequence[Hook], before: json_edit.Before | None
) -> json_edit.Before:
    """Note what must be known to take our hooks back, also where they are there already."""
    paths = [(_HOOKS_KEY,), *((_HOOKS_KEY, hook.event) for hook in wanted)]
    return json_edit.note_containers(remove_hooks(text, agent, before), paths)


def _make_group(hook: Hook, command: str) -> json_edit.Json:
    matcher: dict[str, json_edit.Json] = {} if hook.matcher is None else {"matcher": hook.matcher}
    handler = {"type": "command", "command": command, "timeout": hook.timeout_s}
    return {**matcher, "hooks": [handler]}


def _find_extra(hooks: tuple[InstalledHook, ...], wanted: Set[str]) -> InstalledHook | None:
    """Find one of our hooks that is there twice or at an event no longer wanted."""
    seen: set[str] = set()
    for hook in hooks:
        if hook.event in seen or hook.event not in wanted:
            return hook
        seen.add(hook.event)
    return None


def _find_ours(root: Node, agent: str) -> Iterator[InstalledHook]:
    hooks = json_edit.find_child(root, _HOOKS_KEY)
    at_hooks = json_edit.find_last_index(root, _HOOKS_KEY)
    if not isinstance(hooks, MappingNode) or at_hooks is None:
        return
    for at_event, member in enumerate(hooks.members):
        for at_group, group in enumerate(_items(member.node)):
            handlers, at_handlers = (
                json_edit.find_child(group, _HOOKS_KEY),
                json_edit.find_last_index(group, _HOOKS_KEY),
            )
            if at_handlers is None:
                continue
            group_route = (at_hooks, at_event, at_group)
            is_alone = len(_items(handlers)) == 1
            matcher, at_matcher = (
                json_edit.find_child(group, "matcher"),
                json_edit.find_last_index(group, "matcher"),
            )
            for at_handler, handler in enumerate(_items(handlers)):
                command, at_command = (
                    json_edit.find_child(handler, "command"),
                    json_edit.find_last_index(handler, "command"),
                )
                if not isinstance(command, ScalarNode) or at_command is None:
                    continue
                if isinstance(command.value, str) and is_ours(command.value, agent):
                    route = (*group_route, at_handlers, at_handler)
                    yield InstalledHook(
                        event=member.key,
                        command=command.value,
                        command_route=(*route, at_command),
                        whole_route=group_route if is_alone else route,
                        matcher=matcher.value if isinstance(matcher, ScalarNode) else None,
                        matcher_route=(*group_route, at_matcher)
                        if is_alone and at_matcher is not None
                        else None,
                    )


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.items if isinstance(node, ListNode) else ()


def write_command(
    arguments: Sequence[str], python: str, folder: str, *, is_windows: bool, takes_bash: bool
) -> str:
    """Write a command of ours that has a short way, for the shell that an agent runs it with.

    On Windows no code can be quoted for all of its shells: there Python finds our package itself,
    which is not in `folder` alone.
    """
    if not is_windows:
        start = _START.format(folder=json.dumps(folder, ensure_ascii=False))
        return shlex.join((python, *HOOK_OPTIONS, start, *arguments))
    program = _write_path(python, takes_bash=takes_bash)
    return " ".join((program, *_WINDOWS_OPTIONS, *arguments))


def write_program(python: str, *, is_windows: bool, takes_bash: bool) -> str:
    """Write our program as an interpreter runs it, for the shell of an agent.

    On Windows that is Git Bash for some, and PowerShell where there is none (`takes_bash`); `cmd`
    or PowerShell for others. All run a path without quotes; only quotes that PowerShell does not
    understand serve for a path with a space.
    """
    if not is_windows:
        return shlex.join((python, *OPTIONS))
    return " ".join((_write_path(python, takes_bash=takes_bash), *OPTIONS))


def _write_path(path: str, *, takes_bash: bool) -> str:
    path = path.replace("\\", "/") if takes_bash else path
    return path if _PLAIN_PATH.match(path) else f'"{path}"'


def is_ours(command: str, agent: str) -> bool:
    """Whether a command is our hook and nothing beside it."""
    return ["hook", agent] in find_arguments(command)


def find_arguments(command: str) -> list[list[str]]:
    """Find what `ullage` is given by a command that runs it, or a Python that does.

    There are as many ways to read it as there are shells; none for another program.
    """
    return [found for words in _split_words(command) if (found := _list_arguments(words))]


def _list_arguments(words: Sequence[str]) -> list[str]:
    if words and _base_name(words[0]) in _PROGRAMS:
        return list(words[1:])
    if not words or _PYTHON.fullmatch(_base_name(words[0])) is None:
        return []
    ends = range(2, len(words))
    end = next((at for at in ends if _runs_ullage(tuple(words[1:at]))), len(words))
    return list(words[end:])


def _runs_ullage(options: tuple[str, ...]) -> bool:
    if options[:-1] == HOOK_OPTIONS:
        return _STARTED.fullmatch(options[-1]) is not None
    return options in (OPTIONS, _WINDOWS_OPTIONS)


def _split_words(command: str) -> Iterator[list[str]]:
    """Part a command into words, as a shell of Unix does and as those of Windows do."""
    with suppress(ValueError):
        yield shlex.split(command)
        yield [word.strip('"') for word in shlex.split(command, posix=False)]


def _base_name(program: str) -> str:
    return re.split(r"[/\\]", program)[-1].lower()
