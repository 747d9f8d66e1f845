"""The command that an agent runs for each of our hooks, written and recognized."""

import re
import shlex

OPTIONS = ("-P", "-m", "ullage")
"""Without `-P`, Python would look for modules in the project's folder first, where a hook runs."""
_PROGRAMS = ("ullage", "ullage.exe")
_PLAIN_PATH = re.compile(r"[\w.:/\\+~-]+\Z", re.ASCII)


def hook_command(python: str, agent: str, *, is_windows: bool) -> str:
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
    """Whether a command is one that we install: nothing but our program and its arguments."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if len(words) < 3 or words[-2:] != ["hook", agent]:
        return False
    program, *options = words[:-2]
    if not options:
        return program.endswith(_PROGRAMS)
    return options[-2:] == ["-m", "ullage"] and all(one.startswith("-") for one in options[:-2])
