"""Our status line in Claude Code's settings, taken back to the byte."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles import examples
from ullage.core.install.hook_settings import note_before_hooks, write_command
from ullage.core.install.json_edit import NotEditable
from ullage.core.install.status_line_setting import (
    add_status_line,
    find_status_command,
    has_other_status_line,
    remove_status_line,
)

COMMAND = "/opt/u/bin/python -P -m ullage statusline"
OTHERS = ("~/line.sh", "ullage hook claude-code", "npx ccstatusline", "python -m other statusline")
documents = st.dictionaries(st.sampled_from(("model", "hooks", "env")), st.integers())


@settings(max_examples=examples(80))
@given(documents, st.sampled_from((None, 0, 2, "\t")), st.booleans())
def test_it_is_put_in_once_and_taken_back_to_the_byte(document, indent, is_crlf) -> None:
    text = json.dumps(document, indent=indent)
    text = text.replace("\n", "\r\n") if is_crlf else text
    new = add_status_line(text, COMMAND)
    assert json.loads(new) == document | {"statusLine": {"type": "command", "command": COMMAND}}
    assert add_status_line(new, COMMAND) == new
    assert remove_status_line(new, note_before_hooks(text, "claude-code", (), None)) == text


@pytest.mark.parametrize("command", OTHERS)
def test_that_of_another_stays(command: str) -> None:
    text = json.dumps({"statusLine": {"type": "command", "command": command}})
    assert has_other_status_line(text)
    assert add_status_line(text, COMMAND) == remove_status_line(text, None) == text


def test_one_that_is_null_is_none() -> None:
    text = '{"statusLine": null}'
    assert not has_other_status_line(text)
    new = add_status_line(text, COMMAND)
    assert json.loads(new)["statusLine"]["command"] == COMMAND
    assert remove_status_line(new, note_before_hooks(text, "claude-code", (), None)) == text


@pytest.mark.parametrize("is_windows", [False, True])
def test_ours_by_another_interpreter_is_renewed_and_what_a_user_added_is_not(is_windows) -> None:
    older = write_command(
        ("statusline",), "/old/python", "/old/lib", is_windows=is_windows, takes_bash=True
    )
    text = add_status_line("{}", older)
    assert find_status_command(add_status_line(text, COMMAND)) == COMMAND
    own = add_status_line("{}", f"{older} --format '{{percent}}'")
    assert add_status_line(own, COMMAND) == own
    assert not has_other_status_line(own)
    assert remove_status_line(own, note_before_hooks("{}", "claude-code", (), None)) == "{}"


def test_settings_that_are_no_table_are_refused() -> None:
    with pytest.raises(NotEditable):
        add_status_line("[]", COMMAND)
