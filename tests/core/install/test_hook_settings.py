"""Our hooks in the settings of Claude Code and Codex, among those of others."""

import json
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles import examples
from ullage.core.install.hook_settings import (
    HOOKS,
    add_hooks,
    find_hooks,
    is_ours,
    note_before_hooks,
    remove_hooks,
    write_command,
)

AGENT = "claude-code"
FOLDER = "/opt/u/lib/site-packages"
START = f'import sys; sys.path.append("{FOLDER}"); from ullage.__main__ import main; main()'
CODE = shlex.quote(START)
COMMAND = f"/opt/u/bin/python -E -P -S -c {CODE} hook claude-code"
OLDER = "/old/bin/python3 -P -m ullage hook claude-code"
THEIRS = {"matcher": "Edit", "hooks": [{"type": "command", "command": "lint"}]}


def installed(text: str) -> str:
    return add_hooks(text, AGENT, HOOKS, COMMAND, None)


def ours(timeout: int = 10, command: str = COMMAND) -> dict[str, object]:
    return {"type": "command", "command": command, "timeout": timeout}


EMPTY = st.sampled_from(("hooks", "PreCompact", "PostToolUse", "model"))
other_hooks = st.lists(st.sampled_from((THEIRS, {"hooks": []}, {}, 3)), max_size=2)
documents = st.dictionaries(EMPTY, st.integers()) | st.fixed_dictionaries(
    {"hooks": st.dictionaries(st.sampled_from((*(w.event for w in HOOKS), "Stop")), other_hooks)}
)
manners = st.sampled_from((None, 0, 2, "\t", 4))


@settings(max_examples=examples(80))
@given(documents.filter(lambda d: not isinstance(d.get("hooks"), int)), manners, st.booleans())
def test_hooks_are_merged_once_and_taken_back_to_the_byte(document, indent, is_crlf) -> None:
    text = json.dumps(document, indent=indent)
    text = text.replace("\n", "\r\n") if is_crlf else text
    before = note_before_hooks(text, AGENT, HOOKS, None)
    new = installed(text)
    assert installed(new) == new
    wanted = {hook.event: hook for hook in HOOKS}
    expected = json.loads(text)
    for event, hook in wanted.items():
        group = {"matcher": hook.matcher} if hook.matcher else {}
        group |= {"hooks": [ours(hook.timeout_s)]}
        expected.setdefault("hooks", {}).setdefault(event, []).append(group)
    assert json.loads(new) == expected
    assert note_before_hooks(new, AGENT, HOOKS, before) == before
    assert remove_hooks(new, AGENT, before) == text


def test_the_hook_of_another_interpreter_is_replaced_where_it_stands() -> None:
    text = (
        installed("{}")
        .replace(json.dumps(COMMAND)[1:-1], OLDER)
        .replace('"timeout": 30', '"timeout": 60')
    )
    new = installed(text)
    assert new == text.replace(OLDER, json.dumps(COMMAND)[1:-1])
    assert {one.command for one in find_hooks(new, AGENT)} == {COMMAND}


def test_the_matcher_of_an_earlier_version_is_renewed_and_a_users_stays() -> None:
    new = installed("{}")
    earlier = new.replace("compact|resume|startup|clear", "compact|resume")
    assert earlier != new
    assert installed(earlier) == new
    for matcher in ('"startup"', "null", '["compact|resume"]'):
        theirs = new.replace('"compact|resume|startup|clear"', matcher)
        assert installed(theirs) == theirs
    shared = json.loads(earlier)
    shared["hooks"]["SessionStart"][0]["hooks"].append({"type": "command", "command": "lint"})
    assert json.loads(installed(json.dumps(shared))) == shared


def test_a_second_hook_at_an_event_goes_and_one_that_is_not_wanted_any_more() -> None:
    groups = [{"hooks": [ours(command=OLDER), {"type": "command", "command": "lint"}, ours()]}]
    text = json.dumps({"hooks": {"PreCompact": groups, "Stop": [{"hooks": [ours()]}]}})
    hooks = json.loads(installed(text))["hooks"]
    assert hooks["PreCompact"] == [{"hooks": [ours(), {"type": "command", "command": "lint"}]}]
    assert "Stop" not in hooks


def test_what_a_user_adds_to_our_group_stays() -> None:
    mine = {"type": "command", "command": "notify"}
    document = json.loads(installed("{}"))
    document["hooks"]["PreCompact"][0]["hooks"].append(mine)
    left = json.loads(remove_hooks(json.dumps(document), AGENT, None))
    assert left == {"hooks": {"PreCompact": [{"hooks": [mine]}]}}


def test_the_hooks_of_one_agent_are_not_those_of_another() -> None:
    text = add_hooks("{}", "codex", HOOKS, COMMAND.replace(AGENT, "codex"), None)
    assert find_hooks(text, AGENT) == ()
    assert len(find_hooks(text, "codex")) == len(HOOKS)


@pytest.mark.parametrize(
    "command",
    [
        COMMAND,
        OLDER,
        write_command(
            ("hook", AGENT),
            "/a b/it's/python",
            '/"b" \\é/it\'s',
            is_windows=False,
            takes_bash=True,
        ),
        f"C:/v/python.exe -E -P -S -c {CODE} hook claude-code",
        "C:/v/python.exe -E -P -m ullage hook claude-code",
        "'/a b/python' -P -m ullage hook claude-code",
        "/opt/bin/python3.13t -P -m ullage hook claude-code",
        "/Library/Frameworks/Python.app/Contents/MacOS/Python -P -m ullage hook claude-code",
        '"C:/Program Files/Python/python.exe" -P -m ullage hook claude-code',
        "C:\\venv\\Scripts\\python.exe -P -m ullage hook claude-code",
        "ullage hook claude-code",
        "/home/u/.local/bin/ullage hook claude-code",
        '"C:\\Program Files\\Python\\pythonw.exe" -P -m ullage hook claude-code',
        "C:\\venv\\Scripts\\ullage.exe hook claude-code",
    ],
)
def test_our_commands_are_recognized(command: str) -> None:
    assert is_ours(command, AGENT)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "lint",
        "ullage hook codex",
        "ullage hook claude-code | tee log",
        "cd /x && ullage hook claude-code",
        "A=1 python -m ullage hook claude-code",
        "echo -m ullage hook claude-code done",
        "other hook claude-code",
        "python -m other hook claude-code",
        "python 'torn -P -m ullage hook claude-code",
        "/home/u/bin/my-ullage hook claude-code",
        "C:\\bin\\my-ullage.exe hook claude-code",
        "perl -m ullage hook claude-code",
        "perl -P -m ullage hook claude-code",
        "/usr/bin/my-python -P -m ullage hook claude-code",
        "python -m ullage hook claude-code",
        "python -X dev -P -m ullage hook claude-code",
        "python -I -P -m ullage hook claude-code",
        "python -E -P -S -c 'import sys; print(1)' hook claude-code",
        COMMAND.replace("; main()", "; main(); print(1)"),
        COMMAND.replace("-E -P -S", "-E -P"),
        "ullage -P -m ullage hook claude-code",
        "python hook claude-code",
    ],
)
def test_a_command_that_a_user_made_of_ours_is_the_users(command: str) -> None:
    assert not is_ours(command, AGENT)


@pytest.mark.parametrize(
    ("python", "agent", "is_windows", "expected"),
    [
        ("/v/bin/python", AGENT, False, f"/v/bin/python -E -P -S -c {CODE} hook claude-code"),
        ("/a b/python", "codex", False, f"'/a b/python' -E -P -S -c {CODE} hook codex"),
        ("/$(x)/python", "codex", False, f"'/$(x)/python' -E -P -S -c {CODE} hook codex"),
        ("C:\\v\\python.exe", AGENT, True, "C:/v/python.exe -E -P -m ullage hook claude-code"),
        ("C:\\v\\python.exe", "codex", True, "C:\\v\\python.exe -E -P -m ullage hook codex"),
        (
            "C:\\a b\\python.exe",
            AGENT,
            True,
            '"C:/a b/python.exe" -E -P -m ullage hook claude-code',
        ),
    ],
)
def test_a_command_is_quoted_for_the_shell_of_its_agent(
    python: str, agent: str, is_windows: bool, expected: str
) -> None:
    command = write_command(
        ("hook", agent),
        python,
        FOLDER,
        is_windows=is_windows,
        takes_bash=agent == "claude-code",
    )
    assert command == expected
    assert is_ours(command, agent)
