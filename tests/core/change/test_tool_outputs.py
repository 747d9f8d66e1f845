"""Stale outputs: what a later result makes needless, and what must not count as such."""

import json

import pytest

from factories import assistant, numbered, tool_result
from ullage.core.change.tool_outputs import Output, find_repeats, find_stale_reads, list_outputs
from ullage.core.config.settings import Policy
from ullage.core.facts.tool_calls import read_file_read
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import ToolCall

Run = tuple[str, dict[str, object], str]
"""Tool, arguments, output; an output that begins with `!` is an error."""

TEXT = "one two three four five six seven eight nine ten"
NEWER = "one two THREE four five six seven eight nine ten"


def outputs_of(runs: list[Run]) -> tuple[Output, ...]:
    items: list[ContextItem] = []
    for n, (tool, arguments, output) in enumerate(runs):
        items.append(assistant("", [(f"c{n}", tool, arguments)]))
        items.append(tool_result(output, f"c{n}", tool, is_error=output.startswith("!")))
    return list_outputs(numbered(items), Policy(), len)


def read(path: str, text: str = TEXT, **part: object) -> Run:
    return ("Read", {"file_path": path, **part}, text)


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([read("a.py"), read("a.py", NEWER)], {0}),
        ([read("a.py"), read("b.py")], set()),
        ([read("a.py", offset=1), read("a.py", offset=1)], {0}),
        ([read("a.py", offset=1), read("a.py", NEWER, offset=90)], set()),
        ([read("a.py", "two three", offset=1), read("a.py")], {0}),
        ([read("a.py", "two 3", offset=1), read("a.py")], set()),
        ([read("a.py"), read("a.py", "three four", offset=3)], set()),
        ([read("a.py"), ("Edit", {"file_path": "a.py", "old_string": "x"}, "ok")], {0}),
        ([read("a.py"), ("write", {"path": "a.py", "content": "x"}, "ok")], {0}),
        ([read("a.py"), ("Edit", {"file_path": "b.py"}, "ok")], set()),
        ([read("a.py"), ("Edit", {"file_path": "a.py"}, "! no match")], set()),
        ([("Edit", {"file_path": "a.py"}, "ok"), read("a.py")], set()),
        ([read("a.py"), ("bash", {"command": "sed -i s/a/b/ a.py"}, "")], {0}),
        ([read("a.py"), ("bash", {"command": "make > a.py"}, "")], {0}),
        ([read("a.py"), ("apply_patch", {"input": "*** Update File: a.py\n"}, "ok")], {0}),
        ([read("a.py"), read("a.py", "! no such file")], set()),
        ([read("a.py"), read("a.py", "File unchanged")], set()),
        ([read("a.py"), read("a.py", "[output pruned for context]")], set()),
        ([("bash", {"command": "cat a.py"}, TEXT), read("a.py", NEWER)], {0}),
        ([("bash", {"command": "head -5 a.py"}, "one 2"), read("a.py")], set()),
        ([("bash", {"command": "cat a.py b.py"}, TEXT), read("a.py", NEWER)], set()),
        (
            [
                ("bash", {"command": "cat a.py b.py"}, TEXT),
                read("a.py", NEWER),
                ("Edit", {"file_path": "b.py"}, "ok"),
            ],
            {0},
        ),
        ([("bash", {"command": "pytest; cat a.py"}, TEXT), read("a.py", NEWER)], set()),
        ([("grep", {"pattern": "x", "path": "a.py"}, TEXT), read("a.py", NEWER)], set()),
        ([read("a.py"), read("a.py"), read("a.py")], {0, 1}),
    ],
)
def test_reads_that_do_not_tell_the_present_content(runs: list[Run], expected: set[int]) -> None:
    assert find_stale_reads(outputs_of(runs)) == expected


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([("bash", {"command": "ls"}, "a"), ("bash", {"command": "ls"}, "a")], {0}),
        ([("bash", {"command": "ls"}, "a"), ("bash", {"command": "ls"}, "b")], set()),
        ([("bash", {"command": "ls"}, "a"), ("bash", {"command": "pwd"}, "a")], set()),
        ([("bash", {"command": "ls"}, "a"), ("sh", {"command": "ls"}, "a")], set()),
        ([("bash", {"command": "ls"}, "a")] * 3, {0, 1}),
        ([("bash", {"command": "ls"}, "")] * 2, set()),
    ],
)
def test_duplicates_are_the_same_call_with_the_same_output(
    runs: list[Run], expected: set[int]
) -> None:
    assert find_repeats(outputs_of(runs)) == expected


def test_a_result_without_its_call_is_neither() -> None:
    items = numbered([tool_result("a", "gone"), tool_result("a", "gone")])
    outputs = list_outputs(items, Policy(), len)
    assert find_repeats(outputs) == find_stale_reads(outputs) == set()


@pytest.mark.parametrize(
    ("tool", "arguments", "paths", "part"),
    [
        ("Read", {"file_path": "./a.py"}, ("a.py",), ""),
        ("read", {"path": "a.py", "limit": 5, "offset": 2}, ("a.py",), '{"limit":5,"offset":2}'),
        ("mcp__files__read_file", {"path": "a.py"}, ("a.py",), ""),
        ("read_many_files", {"paths": ["a.py", "b.py"]}, ("a.py", "b.py"), ""),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, ("a.py",), ""),
        ("shell", {"command": ["bash", "-lc", "cat a.py"]}, ("a.py",), ""),
        ("bash", {"command": "sed -n 1,5p a.py"}, ("a.py",), "sed -n 1,5p a.py"),
        ("bash", {"command": "cat -A a.py"}, ("a.py",), "cat -A a.py"),
    ],
)
def test_calls_that_only_show_files(
    tool: str, arguments: dict[str, object], paths: tuple[str, ...], part: str
) -> None:
    found = read_file_read(ToolCall(call_id="c", name=tool, arguments=json.dumps(arguments)))
    assert found is not None
    assert (found.paths, found.part) == (paths, part)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Write", {"file_path": "a.py"}),
        ("grep", {"pattern": "x", "path": "a.py"}),
        ("Read", {}),
        ("bash", {"command": ""}),
        ("bash", {"command": "cat a.py | wc -l"}),
        ("bash", {"command": "cat a.py > b.py"}),
        ("bash", {"command": "sed -i s/a/b/ a.py"}),
        ("bash", {"command": "cat $(ls).py"}),
        ("bash", {"command": "cat a.py\nrm b.py"}),
        ("bash", {"command": "python a.py"}),
        ("bash", {"command": "cat"}),
        ("str_replace_editor", {"command": "create", "path": "a.py"}),
    ],
)
def test_calls_that_do_more_or_nothing(tool: str, arguments: dict[str, object]) -> None:
    call = ToolCall(call_id="c", name=tool, arguments=json.dumps(arguments))
    assert read_file_read(call) is None
