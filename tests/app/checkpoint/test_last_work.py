"""What a session left is found by its transcript, whether or not anything was noted of it."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from claude_files import ClaudeFile, call, text
from codex_files import CodexFile
from pi_files import PiFile
from running import Place
from ullage.app.checkpoint.last_work import find_work
from ullage.app.checkpoint.offer import offer_work
from ullage.core.checkpoint.checkpoint import Checkpoint
from ullage.core.config.settings import Config
from ullage.formats.agents.claude_code.places import folder_name
from ullage.store.checkpoint.left_work import MAX_AGE_S
from ullage.store.files.work_tree import find_work_tree

TASK = "Fix the parcel router of the shop."


def check_out(folder: Path, branch: str) -> None:
    (folder / ".git").mkdir(exist_ok=True)
    (folder / ".git" / "HEAD").write_text(f"ref: refs/heads/{branch}\n")


def keep(path: Path, data: bytes, age_s: float = 120) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (time.time() - age_s,) * 2)
    return path


def claude(
    place: Place,
    said: str = TASK,
    *,
    name: str = "old",
    branch: str = "main",
    age_s: float = 120,
    is_done: bool = False,
    cwd: Path | None = None,
    **fields: object,
) -> Path:
    """Leave a session of Claude Code where that keeps its own."""
    cwd = cwd or place.cwd
    file = ClaudeFile(cwd=str(cwd), session_id=name)
    file.user(said, gitBranch=branch, **fields)
    if is_done:
        file.assistant(text("It is done."), stop_reason="end_turn", gitBranch=branch, **fields)
    file.note("last-prompt")
    folder = place.home / ".claude" / "projects" / folder_name(str(cwd))
    return keep(folder / f"{name}.jsonl", file.data, age_s)


def codex(place: Place, *, branch: str | None, age_s: float = 120, is_done: bool = False) -> None:
    git = {} if branch is None else {"git": {"branch": branch, "commit_hash": "a" * 40}}
    file = CodexFile(cwd=str(place.cwd), **git)
    file.user(TASK)
    if is_done:
        file.assistant("It is done.\n\nNext: write the release notes.")
    name = "rollout-2026-01-01T00-00-00-33333333-4444-4555-8666-777777777777.jsonl"
    keep(place.home / ".codex" / "sessions" / "2026" / "01" / "01" / name, file.data, age_s)


def find(place: Place, key: str = "claude-code:new", **options: object) -> Checkpoint | None:
    return find_work(key, Config(), place.places(), time.time(), **options)


def topic(place: Place) -> str | None:
    found = find(place)
    return None if found is None else found.working.topic


def begin(place: Place, session_id: str, key: str = "", *, is_private: bool = False) -> None:
    offer_work(
        key or f"claude-code:{session_id}",
        Config(),
        place.places(),
        time.time() - 300,
        session_id=session_id,
        is_private=is_private,
    )


def test_a_session_without_a_checkpoint_is_offered_from_its_transcript(place: Place) -> None:
    check_out(place.cwd, "main")
    claude(place)
    found = find(place)
    assert found is not None
    assert (found.working.topic, found.meta.trigger) == (TASK, "session-end")
    assert found.meta.session_key == "claude-code:old"
    assert list(place.state.rglob("cp_001.yaml"))
    # Once it is noted, it is not read again.
    again = find(place)
    assert again is not None
    assert again.meta.checkpoint_id == "cp_001"


def test_what_a_session_said_in_the_second_of_its_checkpoint_is_known(place: Place) -> None:
    claude(place, age_s=120)
    assert topic(place) == TASK
    claude(place, "Mend the sorter of the depot.", age_s=119.5)
    assert topic(place) == "Mend the sorter of the depot."


def test_read_only_the_state_is_in_memory(place: Place) -> None:
    claude(place)
    places = place.places().for_reading(is_read_only=True)
    assert find_work("claude-code:new", Config(), places, time.time()) is not None
    assert not list(place.state.rglob("*"))


def test_the_last_session_of_all_agents_decides(place: Place) -> None:
    check_out(place.cwd, "main")
    claude(place, age_s=300)
    codex(place, branch="main", age_s=120, is_done=True)
    found = find(place)
    assert found is not None
    assert found.meta.session_key.startswith("codex:")
    assert found.working.next_action == "Next: write the release notes."
    claude(place, "Is the port 8443?", name="last", age_s=60, is_done=True)
    assert find(place) is None


def test_a_session_is_of_the_branch_that_its_last_record_names(place: Place) -> None:
    check_out(place.cwd, "main")
    claude(place)
    assert topic(place) == TASK
    # It went on, on another branch, and nobody noted that.
    claude(place, branch="side", age_s=30)
    assert topic(place) is None
    check_out(place.cwd, "side")
    assert topic(place) == TASK


@pytest.mark.parametrize("branch", ["", "HEAD"])
def test_where_the_records_name_no_branch_what_was_noted_counts(place: Place, branch: str) -> None:
    check_out(place.cwd, "main")
    claude(place, branch=branch)
    assert topic(place) is None
    begin(place, "old")
    assert topic(place) == TASK
    check_out(place.cwd, "side")
    assert topic(place) is None


def test_codex_tells_the_branch_of_its_beginning(place: Place) -> None:
    check_out(place.cwd, "main")
    codex(place, branch=None)
    assert topic(place) is None
    codex(place, branch="side")
    assert topic(place) is None
    codex(place, branch="main")
    assert topic(place) == TASK


def test_pi_tells_no_branch_so_that_its_beginning_is_noted(place: Place) -> None:
    check_out(place.cwd, "main")
    file = PiFile(cwd=str(place.cwd), session_id="0199-aa")
    file.user(TASK)
    name = f"--{str(place.cwd.resolve())[1:].replace('/', '-')}--"
    keep(place.home / ".pi" / "agent" / "sessions" / name / "2026_0199-aa.jsonl", file.data)
    assert topic(place) is None
    begin(place, "0199-aa", "pi:0199-aa")
    found = find(place)
    assert found is not None
    assert found.meta.session_key == "pi:0199-aa"


def test_outside_of_a_repository_no_branch_is_asked_for(place: Place) -> None:
    claude(place, branch="")
    assert topic(place) == TASK


def test_a_session_at_the_top_of_the_repository_is_found_from_below(place: Place) -> None:
    check_out(place.cwd, "main")
    claude(place)
    below = place.cwd / "src"
    below.mkdir()
    places = replace(place.places(), cwd=below)
    assert find_work("claude-code:new", Config(), places, time.time()) is not None


def test_what_came_before_the_repository_is_of_another_one(place: Place) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", str(place.cwd)], check=True)
    claude(place)
    assert topic(place) is None
    tree = find_work_tree(place.cwd, place.places())
    assert tree is not None
    claude(place, age_s=-1)
    assert topic(place) == TASK


def test_a_session_of_another_origin_is_of_another_repository(place: Place) -> None:
    check_out(place.cwd, "main")
    settings = place.cwd / ".git" / "config"
    begin(place, "old")
    claude(place)
    settings.write_text('[remote "origin"]\n\turl = https://example.com/a.git\n')
    # There was none when it began.
    assert topic(place) == TASK
    begin(place, "second")
    claude(place, "Write the release notes of the shop.", name="second", age_s=60)
    assert topic(place) == "Write the release notes of the shop."
    settings.write_text('[remote "origin"]\n\turl = https://example.com/b.git\n')
    assert topic(place) is None


def test_a_private_session_that_began_here_is_never_offered(place: Place) -> None:
    claude(place)
    begin(place, "old", "claude-code:old", is_private=True)
    assert topic(place) is None


def test_work_of_more_than_a_week_ago_is_not_read(place: Place) -> None:
    claude(place, age_s=MAX_AGE_S + 60)
    assert topic(place) is None


def test_a_subagents_work_is_its_sessions(place: Place) -> None:
    claude(place, isSidechain=True, agentId="a1")
    assert topic(place) is None


def test_a_session_that_runs_and_the_own_one_are_not_offered(place: Place) -> None:
    claude(place)
    assert find(place, "claude-code:old") is None
    assert find(place, "claude-code:new", session_id="old") is None
    register = place.home / ".claude" / "sessions" / f"{os.getpid()}.json"
    keep(register, f'{{"sessionId": "old", "pid": {os.getpid()}}}'.encode())
    assert topic(place) is None
    register.unlink()
    assert topic(place) == TASK


@pytest.mark.parametrize(("is_done", "age_s"), [(False, 5), (True, 5), (False, 90)])
def test_an_agent_that_may_be_at_work_is_left_alone(
    place: Place, is_done: bool, age_s: float
) -> None:
    check_out(place.cwd, "main")
    codex(place, branch="main", age_s=age_s, is_done=is_done)
    assert topic(place) == (TASK if is_done or age_s > 60 else None)


def test_a_question_at_the_end_of_one_turn_is_offered(place: Place) -> None:
    file = ClaudeFile(cwd=str(place.cwd), session_id="old")
    file.user("Fix the login.")
    file.assistant(call("c1", "Read", file_path="a.py"), stop_reason="tool_use")
    file.assistant(text("It works. Shall I remove the old key?"), stop_reason="end_turn")
    folder = place.home / ".claude" / "projects" / folder_name(str(place.cwd))
    keep(folder / "old.jsonl", file.data)
    found = find(place)
    assert found is not None
    assert found.working.next_action == "wait for the user's answer: Shall I remove the old key?"
