"""What pi's and OpenClaw's extensions take the protocol for is what `ullage agent` says."""

import inspect
import re
import types
from datetime import date
from importlib import resources
from typing import Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest

from ullage.agent import memory_protocol, protocol
from ullage.agent.wire import Wire
from ullage.core.transcript.entries import JsonObject

FOLDER = resources.files("ullage") / "data" / "agents" / "shared"
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_CONSTANT = re.compile(r"export const (\w+) = ([^;]+);")
_INTERFACE = re.compile(r"export interface (\w+) \{\n(.*?)\n\}", re.DOTALL)
_FIELD = re.compile(r'^  "?([\w/]+)"?(\??): (.+);$', re.MULTILINE)
NOT_CALLED = {"Overflow", "CompactPlan", "Overflowed", "CancelRequest", "Declined", "Closed"}
"""The extensions do not use `context/overflow`, nor look into an empty answer."""
ONLY_TYPESCRIPT = {"Methods"}
BASES = (Wire, protocol.WithMessages, memory_protocol.OfWorkspace)


def script() -> str:
    return _COMMENT.sub("", (FOLDER / "protocol.ts").read_text("utf-8"))


def python_types() -> dict[str, type[Wire]]:
    found = [
        shape
        for module in (protocol, memory_protocol)
        for shape in inspect.getmembers(
            module, lambda value: inspect.isclass(value) and issubclass(value, Wire)
        )
    ]
    return {name: cls for name, cls in found if cls not in BASES}


def in_typescript(hint: object) -> set[str]:
    """Write a type of Python as the members of a union of TypeScript."""
    if hint == JsonObject:
        return {"object"}
    if get_origin(hint) in (Union, types.UnionType):
        return set().union(*(in_typescript(part) for part in get_args(hint)))
    if get_origin(hint) is Literal:
        return {f'"{value}"' for value in get_args(hint)}
    if get_origin(hint) is list:
        members = in_typescript(get_args(hint)[0])
        return {f"list of {' or '.join(sorted(members))}"}
    if get_origin(hint) is dict:
        _, value = get_args(hint)
        return {f"Record<string, {' or '.join(sorted(in_typescript(value)))}>"}
    names = {
        str: "string",
        int: "number",
        float: "number",
        bool: "boolean",
        object: "unknown",
        date: "string",
        type(None): "null",
    }
    return {names.get(hint, getattr(hint, "__name__", "?"))}


def read_typescript(text: str) -> set[str]:
    if found := re.fullmatch(r"\((.+)\)\[\]|(\w+)\[\]", text):
        members = read_typescript(found.group(1) or found.group(2))
        return {f"list of {' or '.join(sorted(members))}"}
    if text.endswith("[] | null"):
        return read_typescript(text.removesuffix(" | null")) | {"null"}
    return {part.strip() for part in text.split("|")}


def fields_of(cls: type[Wire]) -> dict[str, tuple[bool, set[str]]]:
    """Give each field's name on the wire, whether it may be left out, and its type."""
    hints = get_type_hints(cls)
    found = {
        field.encode_name: (not field.required, in_typescript(hints[field.name]))
        for field in msgspec.structs.fields(cls)
    }
    config = cls.__struct_config__
    if config.tag_field is not None:
        found[config.tag_field] = (False, {f'"{config.tag}"'})
    return found


def test_constants_are_the_same() -> None:
    theirs = {name: value.strip('"') for name, value in _CONSTANT.findall(script())}
    assert theirs
    assert theirs == {name: str(getattr(protocol, name)) for name in theirs}


def test_both_have_the_same_messages() -> None:
    theirs = {name for name, _ in _INTERFACE.findall(script())}
    assert theirs - ONLY_TYPESCRIPT == set(python_types()) - NOT_CALLED


@pytest.mark.parametrize("name", sorted(set(python_types()) - NOT_CALLED))
def test_a_message_has_the_same_fields_of_the_same_types(name: str) -> None:
    body = dict(_INTERFACE.findall(script()))[name]
    theirs = {key: (bool(may), read_typescript(hint)) for key, may, hint in _FIELD.findall(body)}
    assert theirs == fields_of(python_types()[name])


def test_each_method_takes_and_gives_what_it_does_here() -> None:
    body = dict(_INTERFACE.findall(script()))["Methods"]
    methods = {method.name: method for method in protocol.METHODS}
    found = re.findall(r'"(\w+/\w+)": \[(.+), (\w+)\];', body)
    assert len(found) == body.count('": [')
    for name, params, result in found:
        method = methods[name]
        is_bare = [field.name for field in msgspec.structs.fields(method.params)] == ["session"]
        wanted = "object" if is_bare else f'Omit<{method.params.__name__}, "session">'
        assert params == wanted, name
        assert result in (method.result.__name__, "object"), name
