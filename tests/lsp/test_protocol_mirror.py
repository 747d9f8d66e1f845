"""The extension's `protocol.ts` says what `lsp/protocol.py` says, name for name."""

import inspect
import re
import types
from pathlib import Path
from typing import Literal, Union, get_args, get_origin, get_type_hints

import attrs
import pytest

from ullage.lsp import protocol

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "vscode-extension" / "src" / "protocol.ts"
PAGE = ROOT / "docs" / "editors.md"
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_CONSTANT = re.compile(r'export const (\w+) = "([^"]*)"')
_INTERFACE = re.compile(r"export interface (\w+) \{([^}]*)\}")
_FIELD = re.compile(r"^\s*(\w+): ([^;]+);", re.MULTILINE)
_ROW = re.compile(r"^\| `(ullage\.\w+)` \|([^|]*)\|", re.MULTILINE)
ONLY_TYPESCRIPT = {"Requests", "Commands"}
"""What takes and gives what; in Python `COMMANDS` and `REQUESTS` of the server say it."""


def script() -> str:
    return _COMMENT.sub("", SOURCE.read_text("utf-8"))


def python_classes() -> dict[str, type]:
    found = inspect.getmembers(protocol, lambda value: inspect.isclass(value) and attrs.has(value))
    return {name: cls for name, cls in found if cls.__module__ == protocol.__name__}


def in_typescript(hint: object) -> set[str]:
    """Write a type of Python as the members of a union of TypeScript."""
    if get_origin(hint) in (Union, types.UnionType):
        return set().union(*(in_typescript(part) for part in get_args(hint)))
    if get_origin(hint) is list:
        (part,) = get_args(hint)
        names = sorted(in_typescript(part))
        return {f"{names[0]}[]"} if len(names) == 1 else {f"({'|'.join(names)})[]"}
    if get_origin(hint) is Literal:
        return {f'"{value}"' for value in get_args(hint)}
    names = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}
    return {names.get(hint, getattr(hint, "__name__", "?"))}


def union_of(hint: str) -> set[str]:
    """Read a type of TypeScript as the members of a union; in a list they are sorted."""
    if hint.startswith("(") and hint.endswith(")[]"):
        return {f"({'|'.join(sorted(part.strip() for part in hint[1:-3].split('|')))})[]"}
    return {part.strip() for part in hint.split("|")}


def typed_in_script(suffix: str) -> dict[str, tuple[str, ...]]:
    """Give the argument and the result of each method that TypeScript declares."""
    rows = re.findall(rf"\[(\w+{suffix})\]: \[(\w+), (\w+)\];", script())
    return {name: (argument, result) for name, argument, result in rows}


def test_the_names_of_notifications_and_commands_are_the_same() -> None:
    ours = {
        name: value
        for name, value in vars(protocol).items()
        if name.isupper() and not name.startswith("_") and isinstance(value, str)
    }
    assert ours
    assert dict(_CONSTANT.findall(script())) == ours


def test_both_have_the_same_messages() -> None:
    theirs = {name for name, _ in _INTERFACE.findall(script())}
    assert theirs - ONLY_TYPESCRIPT == set(python_classes())


@pytest.mark.parametrize("name", sorted(python_classes()))
def test_a_message_has_the_same_fields_of_the_same_types(name: str) -> None:
    body = dict(_INTERFACE.findall(script()))[name]
    theirs = {key: union_of(hint) for key, hint in _FIELD.findall(body)}
    hints = get_type_hints(python_classes()[name])
    ours = {
        field.name: in_typescript(hints[field.name])
        for field in attrs.fields(python_classes()[name])
    }
    assert theirs == ours


def test_every_command_and_request_is_registered_and_typed() -> None:
    from ullage.lsp.server import COMMANDS, REQUESTS

    for suffix, registered in (("_COMMAND", COMMANDS), ("_REQUEST", REQUESTS)):
        names = {name for name in vars(protocol) if name.endswith(suffix)}
        assert {method.name for method in registered} == {getattr(protocol, name) for name in names}
        assert typed_in_script(suffix) == {
            name: (method.argument.__name__, method.result.__name__)
            for name in names
            for method in registered
            if method.name == getattr(protocol, name)
        }


def test_the_page_for_other_editors_has_every_command_with_its_fields() -> None:
    from ullage.lsp.server import COMMANDS

    rows = dict(_ROW.findall(PAGE.read_text("utf-8")))
    assert rows.keys() == {command.name for command in COMMANDS}
    for command in COMMANDS:
        fields = {field.name for field in attrs.fields(command.argument)} - {"session"}
        assert fields <= set(re.findall(r"`(\w+)`", rows[command.name])), command.name
