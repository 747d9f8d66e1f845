"""What a call touches is read from its name and arguments, whatever the agent calls its tools."""

import json

import pytest

from ullage.core.facts.tool_calls import read_call, write_sorted_json
from ullage.core.transcript.entries import ToolCall


def touched(name: str, **arguments: object) -> list[tuple[str, bool]]:
    call = ToolCall(call_id="c", name=name, arguments=json.dumps(arguments))
    return [(touch.path, touch.is_modified) for touch in read_call(call).touches]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat src/a.py", [("src/a.py", False)]),
        ("sed -n 1,20p src/a.py", [("src/a.py", False)]),
        ("sed -i s/old.py/new.py src/a.py", [("src/a.py", True)]),
        ("rm server/a.py scripts/b.sh", [("server/a.py", True), ("scripts/b.sh", True)]),
        ("echo x > settings.toml", [("settings.toml", True)]),
        ("head -c 3.5 /etc/hosts.conf", [("/etc/hosts.conf", False)]),
    ],
)
def test_a_command_line_touches_the_files_that_it_names(
    command: str, expected: list[tuple[str, bool]]
) -> None:
    assert touched("bash", command=command) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("read", {"path": "src/a.py"}, [("src/a.py", False)]),
        ("Edit", {"file_path": "/w/a.py", "old_string": "x"}, [("/w/a.py", True)]),
        ("read_many_files", {"paths": ["a.py", "b.py"]}, [("a.py", False), ("b.py", False)]),
        ("grep", {"path": "src", "pattern": "x"}, []),
    ],
)
def test_a_files_tool_touches_its_paths(
    name: str, arguments: dict[str, object], expected: list[tuple[str, bool]]
) -> None:
    assert touched(name, **arguments) == expected


def test_arguments_are_the_same_however_they_are_written() -> None:
    assert write_sorted_json('{"b": [1,  2], "a": "x"}') == write_sorted_json('{"a":"x","b":[1,2]}')
    assert write_sorted_json("not JSON") == write_sorted_json("not JSON")
    assert write_sorted_json("[1]") != write_sorted_json("[2]")
    assert write_sorted_json('{"a": "\ud800"}')
