"""A call with those arguments alone that tell what it does."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles import examples
from ullage.core.facts.kept_arguments import keep_arguments
from ullage.core.facts.tool_calls import read_call
from ullage.core.transcript.entries import ToolCall

NAMES = (
    "Bash",
    "exec_command",
    "Edit",
    "Read",
    "Write",
    "apply_patch",
    "Grep",
    "mcp__fs__save",
    "X",
)
KEYS = ("command", "cmd", "input", "file_path", "path", "paths", "content", "old_string", "pattern")
PIECES = (
    "cat a.py", "\n", "<<EOF", "EOF", "*** Update File: b.py", "*** Add File: c/d.py", "> out.txt",
    " && rm e.py", "sed -i s/a/b/ f.py", "secret text", "x" * 2500, "view", "./g.md", "|", "+*** h",
)  # fmt: skip
commands = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
values = commands | st.lists(commands, max_size=2) | st.integers() | st.just([{"path": "i.py"}])


@settings(max_examples=examples(400))
@given(st.sampled_from(NAMES), st.dictionaries(st.sampled_from(KEYS), values))
def test_a_call_touches_the_same_files(name: str, arguments: dict[str, object]) -> None:
    kept = keep_arguments(name, arguments)
    if kept is not None:
        whole, short = (
            read_call(ToolCall(call_id="", name=name, arguments=json.dumps(each)))
            for each in (arguments, kept)
        )
        assert (short.touches, short.plan) == (whole.touches, whole.plan)


@pytest.mark.parametrize(
    ("name", "arguments", "kept"),
    [
        ("Edit", {"file_path": "a", "old_string": "b", "new_string": "c"}, {"file_path": "a"}),
        ("Write", {"file_path": "a", "content": "b"}, {"file_path": "a"}),
        ("Bash", {"command": "ls", "description": "Look"}, {"command": "ls"}),
        ("Bash", {"command": "cat > a <<E\nb\nE\nls"}, {"command": "cat > a <<E"}),
        ("mcp__mail__send", {"input": "Dear Ann"}, {}),
        ("TodoWrite", {"todos": [{"content": "a"}]}, None),
        ("shell", {"command": ["bash", "-lc", "ls"]}, None),
    ],
)
def test_nothing_is_kept_of_what_files_hold(name: str, arguments, kept) -> None:
    assert keep_arguments(name, arguments) == kept
    patch = {"command": "*** Begin Patch\n*** Update File: a.py\n-old\n+new\n*** End Patch"}
    short = "*** Begin Patch\n*** Update File: a.py\n*** End Patch"
    assert keep_arguments("apply_patch", patch) == {"command": short}
