"""The short way of a hook: it leaves what the long way leaves, or leaves it to that."""

import json
from pathlib import Path

import pytest

from hook_inputs import SESSION_ID, claude, copilot, data, tool_call
from pi_files import Json
from running import Place
from ullage.agent.hook_agents import hook_agent
from ullage.agent.hook_answer import answer
from ullage.agent.hook_event import parse_event
from ullage.agent.quick_answer import answer_quickly
from ullage.store.checkpoint.working_state import read_working_state
from ullage.store.files.places import session_folder
from ullage.store.files.quick_state import FOLDER, MAX_WAITING

KEY = f"claude-code:{SESSION_ID}"
CLAUDE = hook_agent("claude-code")


@pytest.fixture
def lab(hook_place: Place) -> "Lab":
    return Lab(hook_place)


class Lab:
    """An agent with one session, whose hooks are run in this process."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.folder = session_folder("state", KEY, place.places())

    def told(self, call_id: str = "toolu_000000001", **fields: object) -> Json:
        told = claude("PostToolUse", **tool_call(call_id)) | {"cwd": str(self.place.cwd)}
        return told | fields

    def ask(self, told: Json) -> bool:
        """Answer an event as the hook does; tell whether it went the short way."""
        assert CLAUDE is not None
        output = answer_quickly(data(told), CLAUDE)
        if output is None:
            event = parse_event(data(told), CLAUDE)
            assert event is None or answer(event) == b""
        return output == b""

    def waiting(self) -> list[Path]:
        return sorted(self.folder.glob("waiting-*.json"))

    def modified(self) -> set[str]:
        return set(read_working_state(KEY, self.place.places()).resources.files_modified)


def edit(path: str) -> Json:
    return {"tool_input": {"file_path": path, "old_string": "a", "new_string": "b"}}


def test_the_first_call_goes_the_long_way_and_those_after_it_the_short_one(lab: Lab) -> None:
    ways = [lab.ask(lab.told(f"toolu_00000000{n}", **edit(f"/work/{n}.py"))) for n in range(4)]
    assert ways == [False, True, True, True]
    assert lab.modified() == {f"/work/{n}.py" for n in range(4)}


def test_both_ways_leave_the_same_and_a_call_counts_once(lab: Lab) -> None:
    lab.ask(lab.told())
    (before,) = read_working_state(KEY, lab.place.places()).resources.modified
    assert lab.ask(lab.told())
    assert len(lab.waiting()) == 2
    resources = read_working_state(KEY, lab.place.places()).resources
    assert [file.name for file in resources.modified] == [before.name]
    assert len(resources.counted.calls) == 1


def test_nothing_of_what_files_hold_is_laid_down(lab: Lab) -> None:
    lab.ask(lab.told())
    assert lab.ask(lab.told("toolu_000000002", tool_response={"content": "the whole file"}))
    (tool,) = filter(None, (json.loads(path.read_bytes())["tool"] for path in lab.waiting()))
    assert json.loads(tool.pop("arguments")) == {"file_path": "/work/shop/cart.py"}
    assert set(tool) == {"call_id", "name", "at_ms"}


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_response": {"is_error": True, "error": "no such file"}},
        {"hook_event_name": "PostToolUseFailure", "error": "no"},
        {"tool_input": "text"},
        {"tool_use_id": "1"},
        {"tool_name": "TodoWrite", "tool_input": {"todos": [{"content": "a"}]}},
        {"tool_name": "Bash", "tool_input": {"command": "curl -H 'x: hunter2-hunter2' a.b"}},
        {"tool_name": "Bash", "tool_input": {"command": f"echo ghp_{'a1' * 18} > a.txt"}},
        {"tool_name": "Bash", "tool_input": {"command": "x" * 9_000}},
        {"tool_response": {"content": "x" * 600_000}},
        {"session_id": "../up"},
        {"cwd": "relative"},
    ],
)
def test_what_may_hold_more_than_it_can_tell_goes_the_long_way(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, fields: Json
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "hunter2-hunter2")
    lab.ask(lab.told())
    assert lab.ask(lab.told("toolu_000000002"))
    assert not lab.ask(lab.told("toolu_000000003") | fields)
    held = b"".join(path.read_bytes() for path in lab.place.state.rglob("*.json"))
    assert b"hunter2" not in held
    assert b"ghp_a1" not in held


def test_a_call_of_a_subagent_is_none_of_the_session(lab: Lab) -> None:
    lab.ask(lab.told())
    assert lab.ask(lab.told("toolu_000000002", agent_id="a1", **edit("/work/sub.py")))
    assert lab.modified() == {"/work/shop/cart.py"}


def test_secrets_of_the_workspace_are_known_as_they_are_now(lab: Lab) -> None:
    lab.ask(lab.told())
    assert lab.ask(lab.told("toolu_000000002", **edit("/work/abc-hunter2hunter2.py")))
    (lab.place.cwd / ".env.local").write_text("SHOP_KEY=hunter2hunter2\n", "utf-8")
    assert not lab.ask(lab.told("toolu_000000003", **edit("/work/def-hunter2hunter2.py")))
    assert "/work/def-[REDACTED:known:" in str(lab.modified())


def test_once_nothing_may_be_written_nothing_is(lab: Lab) -> None:
    lab.ask(lab.told())
    assert lab.ask(lab.told("toolu_000000002"))
    file = lab.place.home / ".openclaw" / "config.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text("sandbox: {readOnly: true}\n", "utf-8")
    before = sorted(lab.place.state.rglob("*"))
    assert not lab.ask(lab.told("toolu_000000003"))
    assert not lab.ask(lab.told("toolu_000000004"))
    assert sorted(lab.place.state.rglob("*")) == before


@pytest.mark.parametrize(
    "path", [".openclaw/openclaw.json", ".clawdbot/clawdbot.json", ".openclaw/config.yaml"]
)
def test_a_configuration_that_comes_is_read_once(lab: Lab, path: str) -> None:
    lab.ask(lab.told())
    file = lab.place.home / path
    file.parent.mkdir(exist_ok=True)
    file.write_text("{}", "utf-8")
    ways = [lab.ask(lab.told(f"toolu_00000000{n}")) for n in range(2, 5)]
    assert ways == [False, True, True]


def test_another_environment_is_looked_at_anew(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.ask(lab.told())
    monkeypatch.setenv("OLDPWD", "/elsewhere")
    assert lab.ask(lab.told("toolu_000000002"))
    monkeypatch.setenv("ULLAGE_SANDBOX_READ_ONLY", "1")
    assert not lab.ask(lab.told("toolu_000000003"))


def test_a_damaged_snapshot_is_none(lab: Lab) -> None:
    lab.ask(lab.told())
    (snapshot,) = (lab.place.state / "context" / FOLDER).iterdir()
    own = json.loads(snapshot.read_bytes())
    for changed in (
        {"files": [[]]},
        {"files": 1},
        {"version": "0.0.1"},
        {"signs": 1},
        {"state": 1},
    ):
        snapshot.write_bytes(data(own | changed))
        assert not lab.ask(lab.told("toolu_000000002"))
        snapshot.write_bytes(data(own))
    for content in (b"", b"[]", b'{"version": 1}', b"\xff" * 99):
        snapshot.write_bytes(content)
        assert not lab.ask(lab.told("toolu_000000002"))
        assert lab.ask(lab.told("toolu_000000003"))


def test_no_more_wait_than_are_taken_in_at_once(lab: Lab) -> None:
    names = [f"/work/{n}.py" for n in range(MAX_WAITING + 5)]
    most = 0
    for n, name in enumerate(names):
        lab.ask(lab.told(f"toolu_{n:09}", **edit(name)))
        most = max(most, len(lab.waiting()))
    assert most == MAX_WAITING - 1
    assert lab.modified() == set(names)


def test_what_copilot_says_goes_the_long_way(lab: Lab) -> None:
    told = copilot("PostToolUse", **tool_call()) | {"cwd": str(lab.place.cwd)}
    assert [lab.ask(told) for _ in range(2)] == [False, False]
