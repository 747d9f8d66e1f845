"""Our hooks: at which events, and the command that an agent runs, written and recognized."""

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress

import msgspec

OPTIONS = ("-P", "-m", "ullage")
"""Without `-P`, Python would look for modules in the project's folder first, where a hook runs."""
_PROGRAMS = ("ullage", "ullage.exe")
_PYTHON = re.compile(r"(?:python|pypy)w?[\d.]*(?:t|d|_d)?(?:\.exe)?")
"""By the names that `sys.executable` has: also `python3.13t`, which has no global lock."""
_PLAIN_PATH = re.compile(r"[\w.:/\\+~-]+\Z", re.ASCII)


class Hook(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be run at an event."""

    event: str
    matcher: str | None = None
    timeout_s: int


HOOKS = (
    Hook(event="PreCompact", timeout_s=30),
    Hook(event="SessionStart", matcher="compact|resume", timeout_s=10),
    Hook(event="PostToolUse", timeout_s=10),
    Hook(event="UserPromptSubmit", timeout_s=10),
)
"""What all agents have. A hook takes less than 0.15 s; a checkpoint of a long session a few
seconds. The times are chosen so that an agent never waits long for one that hangs: the default
is 10 minutes."""


def write_hook_command(python: str, agent: str, *, is_windows: bool, takes_bash: bool) -> str:
    """Write the command of a hook for the shell that an agent runs it with.

    On Windows that is Git Bash for some, and PowerShell where there is none (`takes_bash`); `cmd`
    or PowerShell for others. All run a path without quotes; only quotes that PowerShell does not
    understand serve for a path with a space.
    """
    if not is_windows:
        return shlex.join((python, *OPTIONS, "hook", agent))
    program = python.replace("\\", "/") if takes_bash else python
    if not _PLAIN_PATH.match(program):
        program = f'"{program}"'
    return " ".join((program, *OPTIONS, "hook", agent))


def is_ours(command: str, agent: str) -> bool:
    """Whether a command is ours and nothing beside it: `ullage`, or a Python with `OPTIONS`."""
    return any(_runs_hook(words, agent) for words in _split_words(command))


def _runs_hook(words: Sequence[str], agent: str) -> bool:
    match words:
        case [program, "hook", named]:
            is_known = _base_name(program) in _PROGRAMS
        case [program, *options, "hook", named] if tuple(options) == OPTIONS:
            is_known = _PYTHON.fullmatch(_base_name(program)) is not None
        case _:
            return False
    return is_known and named == agent


def _split_words(command: str) -> Iterator[list[str]]:
    """Part a command into words, as a shell of Unix does and as those of Windows do."""
    with suppress(ValueError):
        yield shlex.split(command)
        yield [word.strip('"') for word in shlex.split(command, posix=False)]


def _base_name(program: str) -> str:
    return re.split(r"[/\\]", program)[-1].lower()
