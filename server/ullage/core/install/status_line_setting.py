"""Our status line in the settings of Claude Code, where its user has none.

The setting is `{"statusLine": {"type": "command", "command": …}}` (docs/statusline.md). It is ours
by its command alone, whatever format a user has added to that.
"""

from ullage.core.install import json_edit
from ullage.core.install.hook_settings import find_arguments
from ullage.core.text.json5 import parse_json5
from ullage.core.text.tree import Node, ScalarNode

ARGUMENTS = ("statusline",)
_KEY = "statusLine"


def add_status_line(text: str, command: str) -> str:
    """Give the text with our status line, run by this interpreter; a user's own one stays.

    Raises:
        ParseError: the text is not JSON5.
        NotEditable: the settings are no table.
    """
    node = _find_setting(text)
    if node is None:
        return json_edit.set_member(text, (_KEY,), {"type": "command", "command": command})
    own = find_status_command(text)
    route = json_edit.find_route(parse_json5(text), (_KEY, "command"))
    if own is None or route is None or list(ARGUMENTS) not in find_arguments(own):
        return text
    return text if own == command else json_edit.replace_scalar(text, route, command)


def remove_status_line(text: str, before: json_edit.Before | None) -> str:
    """Give the text without our status line.

    Raises:
        ParseError: the text is not JSON5.
    """
    while find_status_command(text) is not None:
        route = json_edit.find_route(parse_json5(text), (_KEY,))
        if route is None:
            break
        text = json_edit.remove(text, route, before)
    return text


def find_status_command(text: str) -> str | None:
    """Find the command of our status line; None where there is none, or another's.

    Raises:
        ParseError: the text is not JSON5.
    """
    node = _find_setting(text)
    command = None if node is None else json_edit.find_child(node, "command")
    if not isinstance(command, ScalarNode) or not isinstance(command.value, str):
        return None
    is_ours = any(found[:1] == [*ARGUMENTS] for found in find_arguments(command.value))
    return command.value if is_ours else None


def has_other_status_line(text: str) -> bool:
    """Whether the settings have a status line that is not ours.

    Raises:
        ParseError: the text is not JSON5.
    """
    return _find_setting(text) is not None and find_status_command(text) is None


def _find_setting(text: str) -> Node | None:
    node = None if json_edit.is_blank(text) else json_edit.find_child(parse_json5(text), _KEY)
    return None if isinstance(node, ScalarNode) and node.value is None else node
