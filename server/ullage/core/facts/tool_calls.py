"""What a tool call says that it does: the files it touches and the command it runs."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import cast

import msgspec

from ullage.core.facts.kept_arguments import (
    COMMAND_KEYS,
    MAX_COMMAND_CHARS,
    PATCHERS,
    PATH_KEYS,
    SHELLS,
    base_name,
)
from ullage.core.facts.plan import PlanChange, read_plan_change
from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.core.text.prose import remove_list_mark
from ullage.core.text.short_paths import Label
from ullage.core.transcript.entries import ToolCall

_READERS = ("read", "view", "open", "cat", "get", "show", "load")
_WRITERS = (
    "write", "edit", "create", "patch", "replace", "insert", "update", "delete", "remove", "move",
    "rename", "save", "append",
)  # fmt: skip
_SEARCHERS = frozenset(
    "grep glob find ls list search list_dir list_directory codebase_search".split()
)
_PLAN_TOOL = "exitplanmode"
"""Puts a plan before the user, in Claude Code and Gemini; its result says that it was approved."""
_PATCHED = lazy_pattern(r"^\*\*\* (Update|Add|Delete) File: (\S[^\n]{0,300})", re.MULTILINE)
_REDIRECT = lazy_pattern(r"(?<![<>&\d=-])>{1,2}\s{0,3}([\w./~@+-]{1,300})")
_PIECE_END = lazy_pattern(r"&&|\|\||[;|\n]")
_SHELL_SYNTAX = lazy_pattern(r"[;|&<>`$\n]")
"""What lets a command line do more than its first word says."""
_CHANGERS = frozenset("tee rm mv cp touch sed chmod rmdir unlink truncate".split())
_LOOKERS = frozenset("cat head tail less more nl wc bat".split())
_HAS_SUFFIX = lazy_pattern(r"[^/\s]\.[A-Za-z0-9_]{1,10}$")
_SED_SCRIPT = lazy_pattern(r"s[/|#,@]")


class Touch(msgspec.Struct, frozen=True, gc=False):
    path: str
    is_modified: bool


class CallFacts(msgspec.Struct, frozen=True, kw_only=True):
    touches: tuple[Touch, ...]
    command: str | None
    """The command line, when the tool runs one."""
    plan: PlanChange | None = None
    """What it does to the agent's own list of steps."""


class FileRead(msgspec.Struct, frozen=True, kw_only=True):
    """A call that does nothing but show files."""

    paths: tuple[str, ...]
    part: str
    """What of them it shows, equal for the same part; empty for all."""


def read_call(call: ToolCall) -> CallFacts:
    """Read what a call does from its name and its arguments."""
    return _read_call(call.name, call.arguments)


def describe_call(call: ToolCall) -> Label:
    """Say what a call is about; nothing is cut off yet, so that secrets are found whole."""
    facts = read_call(call)
    paths = list(dict.fromkeys(touch.path for touch in facts.touches))
    if paths and not facts.command:
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        return Label(paths[0] + more, is_path=True)
    return Label(facts.command or call.arguments)


@lru_cache(maxsize=4096)
def _read_call(full_name: str, call_arguments: str) -> CallFacts:
    arguments = _decode(call_arguments)
    name = base_name(full_name)
    if name in SHELLS:
        command = _command_text(arguments) or ""
        return CallFacts(touches=tuple(_shell_touches(command)), command=command)
    if name in PATCHERS:
        patch = _command_text(arguments) or call_arguments
        return CallFacts(touches=tuple(_patch_touches(patch)), command=None)
    if (plan := read_plan_change(name, arguments)) is not None:
        return CallFacts(touches=(), command=None, plan=plan)
    return CallFacts(touches=tuple(_path_touches(name, arguments)), command=None)


def read_plan_title(call: ToolCall) -> str:
    """Give the first line of a plan that a call puts before the user; else nothing."""
    if call.name.lower().replace("_", "") != _PLAN_TOOL:
        return ""
    plan = _decode(call.arguments).get("plan")
    return remove_list_mark(plan.strip().partition("\n")[0]) if isinstance(plan, str) else ""


def read_file_read(call: ToolCall) -> FileRead | None:
    """Read which files a call shows; None where it does anything else, or may do."""
    arguments = _decode(call.arguments)
    name = base_name(call.name)
    if name in SHELLS:
        return _shell_read(_command_text(arguments) or "")
    action = arguments.get("command")
    _, is_reader = _intent(action.lower() if isinstance(action, str) else name)
    paths = tuple(dict.fromkeys(touch.path for touch in _path_touches(name, arguments)))
    if not is_reader or not paths:
        return None
    rest = {key: value for key, value in arguments.items() if key not in (*PATH_KEYS, "command")}
    part = msgspec.json.encode(rest, order="sorted").decode() if rest else ""
    return FileRead(paths=paths, part=part)


def list_new_texts(call: ToolCall) -> Iterator[str]:
    """Give the texts of a call's arguments, without those that an edit takes away."""
    for key, value in _decode(call.arguments).items():
        if key.lower().startswith("old") or key in PATH_KEYS:
            continue
        if isinstance(value, str):
            yield value
        for part in _members(value):
            if isinstance(part, str):
                yield part
            elif isinstance(part, dict):
                fields = cast("dict[str, object]", part)
                yield from (
                    text
                    for name, text in fields.items()
                    if isinstance(text, str) and not name.lower().startswith("old")
                )


def write_sorted_json(arguments: str) -> str:
    """Write arguments in one way, however an agent spaced and ordered them."""
    decoded = _decode(arguments)
    try:
        return msgspec.json.encode(decoded, order="sorted").decode()
    except (ValueError, RecursionError):
        return arguments


def _decode(arguments: str) -> dict[str, object]:
    try:
        return msgspec.json.decode(arguments, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {"input": arguments.strip('"')}


def _members(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _command_text(arguments: dict[str, object]) -> str | None:
    for key in COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, str):
            return value
        words = [part for part in _members(value) if isinstance(part, str)]
        if words:
            # Codex wraps the line: ["bash", "-lc", "the line"].
            is_wrapped = len(words) > 2 and words[1] in ("-lc", "-c")
            return words[2] if is_wrapped else " ".join(words)
    return None


def _path_touches(name: str, arguments: dict[str, object]) -> Iterator[Touch]:
    action = arguments.get("command")
    verb = action.lower() if isinstance(action, str) and len(action) < 20 else name
    is_writer, is_reader = _intent(verb)
    for key, value in arguments.items():
        if key not in PATH_KEYS:
            continue
        for path in _strings(value):
            # A search's path is mostly a folder; only a file counts as touched.
            is_sure = (is_writer or is_reader) and name not in _SEARCHERS
            if not is_sure and _HAS_SUFFIX.search(path[-40:]) is None:
                continue
            is_path = is_writer or is_reader or "://" not in path
            if is_path and (cleaned := _clean(path)):
                yield Touch(cleaned, is_writer)


@lru_cache(maxsize=256)
def _intent(verb: str) -> tuple[bool, bool]:
    """Tell whether a tool of this name writes, or else reads."""
    is_writer = any(word in verb for word in _WRITERS)
    return is_writer, not is_writer and any(word in verb for word in _READERS)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for part in _members(value):
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            path = cast("dict[str, object]", part).get("path")
            if isinstance(path, str):
                yield path


def _clean(path: str) -> str:
    path = path.strip().removeprefix("file://").strip("\"'`")
    return path.removeprefix("./") if 0 < len(path) <= 400 and "\n" not in path else ""


def _shell_read(command: str) -> FileRead | None:
    words = command.split()
    if not words or words[0] not in (*_LOOKERS, "sed") or _SHELL_SYNTAX.search(command.strip()):
        return None
    touches = tuple(dict.fromkeys(_piece_touches(words)))
    if not touches or any(touch.is_modified for touch in touches):
        return None
    is_whole = words[0] == "cat" and len(touches) == len(words) - 1
    return FileRead(paths=tuple(t.path for t in touches), part="" if is_whole else command)


def _patch_touches(patch: str) -> Iterator[Touch]:
    for match in _PATCHED.finditer(patch):
        if path := _clean(match[2]):
            yield Touch(path, is_modified=True)


def _shell_touches(command: str) -> Iterator[Touch]:
    if "*** " in command:
        yield from _patch_touches(command)
    head = command[:MAX_COMMAND_CHARS]
    heredoc = head.find("<<")
    # What follows a here-document's first line is content, not a command.
    if heredoc >= 0 and (end := head.find("\n", heredoc)) >= 0:
        head = head[:end]
    for match in _REDIRECT.finditer(head):
        if not match[1].startswith(("/dev/", "&")) and (path := _clean(match[1])):
            yield Touch(path, is_modified=True)
    for piece in _PIECE_END.split(head):
        yield from _piece_touches(piece.split())


def _piece_touches(words: list[str]) -> Iterator[Touch]:
    if words and words[0] in ("sudo", "git", "command"):
        words = words[1:]
    if not words:
        return
    program, rest = words[0].rsplit("/", 1)[-1], words[1:]
    if program not in _CHANGERS and program not in _LOOKERS:
        return
    is_change = program in _CHANGERS
    if program == "sed" and not any(word.startswith(("-i", "--in-place")) for word in rest):
        is_change = False
    for word in rest:
        path = _clean(word)
        if program == "sed" and _SED_SCRIPT.match(path):
            continue
        # Suffix or slash: a bare word may be an option's value.
        is_path = _HAS_SUFFIX.search(path[-40:]) is not None and path[0] not in "-<>&$(/1234567890*"
        if is_path or (path.startswith("/") and _HAS_SUFFIX.search(path[-40:])):
            yield Touch(path, is_change)
