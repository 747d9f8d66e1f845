"""The one table of methods, and what is made from it."""

import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from ullage.agent import json_rpc, protocol
from ullage.agent.methods import HANDLERS
from ullage.agent.protocol import METHODS
from ullage.agent.wire import ErrorKind, Method, Wire

PAGE = (Path(__file__).parents[2] / "docs/agent-protocol.md").read_text("utf-8")


def test_each_method_is_answered() -> None:
    assert list(HANDLERS) == [method.name for method in METHODS]


def fields_of(struct: type[Wire]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(struct)}


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_the_page_tells_every_field_of_a_method(method: Method[Wire, Wire]) -> None:
    section = re.search(rf"^## `{method.name}`\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert section is not None
    told = set(re.findall(r"^\| `(\w+)` \|", section[1], re.MULTILINE))
    assert fields_of(method.params) | fields_of(method.result) <= told


def test_the_page_tells_every_action_event_and_error() -> None:
    for names in (protocol.TakenOrAsked, ErrorKind):
        for shape in get_args(names):
            word = shape if isinstance(shape, str) else shape.__struct_config__.tag
            assert f"`{word}`" in PAGE, word
    source = Path(json_rpc.__file__).read_text("utf-8")
    for code in re.findall(r"^[A-Z_]+ = (-32\d+)$", source, re.MULTILINE):
        assert f"{code}" in PAGE


def test_the_page_speaks_of_nothing_that_is_not_there() -> None:
    known = {method.name for method in METHODS}
    assert set(re.findall(r"`((?:context|memory)/\w+)`", PAGE)) <= known
