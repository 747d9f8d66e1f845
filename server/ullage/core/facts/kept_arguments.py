"""Which arguments of a tool call tell what it does, and a call with these alone.

Light, for the hook of a tool call: it lays down nothing of what files hold.
"""

from ullage.core.text.quick_json import is_list

PATH_KEYS = frozenset(
    "path file_path filepath filename file notebook_path target_file absolute_path relative_path "
    "old_path new_path source destination paths files file_paths uri filePath targetFile".split()
)
COMMAND_KEYS = ("command", "cmd", "script", "input", "patch")
SHELLS = frozenset(
    "bash shell exec exec_command local_shell shell_command run_command terminal execute_command "
    "run_terminal_cmd run_shell_command powershell sh container.exec".split()
)
"""Tools that run a command line, in the naming of pi, Claude Code, Codex, Gemini and opencode."""
PATCHERS = ("apply_patch", "applypatch")
MAX_COMMAND_CHARS = 4000
"""Beyond this a command is a script whose text is data; chosen."""
_PLANNERS = ("todo", "plan", "task")
"""In the name of each tool that writes the agent's list of steps, whose words are kept."""
_MAX_VERB_CHARS = 20


def base_name(full_name: str) -> str:
    """Give a tool's name in small letters, without the server of MCP that has it."""
    return full_name.rsplit("__", 1)[-1].lower()


def keep_arguments(full_name: str, arguments: dict[str, object]) -> dict[str, object] | None:
    """Leave out what tells nothing of files; None where that is not to be told of a call.

    `tool_calls.read_call` finds the same in both, but for the command line itself.
    """
    name = base_name(full_name)
    if any(part in name for part in _PLANNERS):
        return None
    kept: dict[str, object] = {}
    for key, value in arguments.items():
        if key in COMMAND_KEYS and (name in SHELLS or name in PATCHERS):
            if not isinstance(value, str):
                return None
            kept[key] = _keep_lines(value, is_patch=name in PATCHERS)
        elif key == "command" and isinstance(value, str) and len(value) < _MAX_VERB_CHARS:
            kept[key] = value
        elif key in PATH_KEYS:
            if not isinstance(value, str) and not _is_texts(value):
                return None
            kept[key] = value
    return kept


def _keep_lines(command: str, *, is_patch: bool) -> str:
    """Keep a command up to its first here-document, and the lines of a patch that name files."""
    lines = command.split("\n")
    n_first = (
        0 if is_patch else next((n for n, line in enumerate(lines, 1) if "<<" in line), len(lines))
    )
    rest = (line for line in lines[n_first:] if line.startswith("*** "))
    return "\n".join((*lines[:n_first], *rest))


def _is_texts(value: object) -> bool:
    return is_list(value) and all(isinstance(part, str) for part in value)
