"""The command that an agent runs for each of our hooks, written and recognized."""

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress

OPTIONS = ("-P", "-m", "ullage")
"""Without `-P`, Python would look for modules in the project's folder first, where a hook runs."""
_PROGRAMS = ("ullage", "ullage.exe")
_PYTHON = re.compile(r"(?:python|pypy)w?[\d.]*(?:t|d|_d)?(?:\.exe)?")
"""By the names that `sys.executable` has: also `python3.13t`, which has no global lock."""
_PLAIN_PATH = re.compile(r"[\w.:/\\+~-]+\Z", re.ASCII)


def write_hook_command(python: str, agent: str, *, is_windows: bool) -> str:
    """Write the command of a hook for the shell that an agent runs it with.

    On Windows Claude Code takes Git Bash, and PowerShell where there is none; Codex `cmd` or
    PowerShell. All run a path without quotes; only quotes that PowerShell does not understand
    serve for a path with a space.
    """
    if not is_windows:
        return shlex.join((python, *OPTIONS, "hook", agent))
    program = python.replace("\\", "/") if agent == "claude-code" else python
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
