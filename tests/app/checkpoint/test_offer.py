"""A fresh session is offered what the last one of its repository and branch left, once."""

import json
import os
import re
import shlex
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from claude_files import ClaudeFile, text
from planning import loaded
from running import IDLE_S, Place
from ullage.app.checkpoint.last_work import find_work
from ullage.app.checkpoint.offer import offer_work
from ullage.app.checkpoint.write import write_checkpoint
from ullage.core.checkpoint.offer import Offer
from ullage.core.config.settings import CheckpointSettings, Config, ResumeSettings
from ullage.store.checkpoint.left_work import MAX_AGE_S
from ullage.store.files.places import Places

NEW = "claude-code:new"
SECRET = "sk-proj-" + "a1B2" * 12


def check_out(folder: Path, branch: str) -> None:
    (folder / ".git").mkdir(exist_ok=True)
    (folder / ".git" / "HEAD").write_text(f"ref: refs/heads/{branch}\n")


def leave(
    place: Place, said: str = "Fix the parcel router.", *, name: str = "old", is_done: bool = False
) -> str:
    """Write the checkpoint of a session that ended in the midst of its work; give its id."""
    file = ClaudeFile(cwd=str(place.cwd), session_id=name)
    file.user(said)
    if is_done:
        file.assistant(text("It is fixed."), usage=9_000, stop_reason="end_turn")
    session = loaded(place.write(f"{name}.jsonl", file.data), place.places())
    written = write_checkpoint(session, CheckpointSettings(), place.places(), trigger="manual")
    assert written.is_new
    return written.checkpoint.meta.checkpoint_id


def offer(
    places: Places, key: str = NEW, mode: str = "ask", *, age_s: float = 0.0, **options: object
) -> Offer | None:
    config = Config(resume=ResumeSettings(offer=mode))
    now_s = time.time() + age_s
    return offer_work(key, config, places, now_s, session_id=key, **options)


def test_a_fresh_session_is_offered_the_work_of_the_last_one_once(place: Place) -> None:
    leave(place)
    places = place.places()
    told = offer(places)
    assert told is not None
    assert "Topic: “Fix the parcel router.”" in told.text
    assert offer(places) is None
    assert offer(places, "codex:another") is not None


def test_where_no_path_has_the_program_its_interpreter_is_named(place: Place) -> None:
    leave(place)
    told = offer(replace(place.places(), env={"PATH": ""}))
    assert told is not None
    command = f"{shlex.quote(sys.executable)} -P -m ullage checkpoint show --text --session old"
    assert f"`{command}`" in told.text


def test_a_session_is_not_offered_its_own_work(place: Place) -> None:
    leave(place)
    assert find_work("claude-code:old", Config(), place.places(), time.time()) is None


def test_never_from_another_branch_folder_or_repository(place: Place) -> None:
    check_out(place.cwd, "main")
    leave(place)
    places = place.places()
    check_out(place.cwd, "side")
    assert offer(places) is None
    check_out(place.cwd, "main")
    below = place.cwd / "src"
    below.mkdir()
    check_out(below, "main")
    assert offer(replace(places, cwd=below)) is None
    assert offer(replace(places, cwd=place.home)) is None
    assert offer(places) is not None


def test_a_folder_of_the_same_repository_is_of_the_same_work(place: Place) -> None:
    check_out(place.cwd, "main")
    leave(place)
    below = place.cwd / "src"
    below.mkdir()
    assert offer(replace(place.places(), cwd=below)) is not None


def test_without_a_repository_the_folder_itself_counts(place: Place) -> None:
    leave(place)
    below = place.cwd / "src"
    below.mkdir()
    assert offer(replace(place.places(), cwd=below)) is None


def test_a_session_that_went_on_on_another_branch_is_of_there(place: Place) -> None:
    check_out(place.cwd, "main")
    leave(place)
    check_out(place.cwd, "side")
    leave(place, "Fix the parcel router. Then write the release notes.")
    places = place.places()
    assert offer(places) is not None
    check_out(place.cwd, "main")
    assert offer(places, "claude-code:newer") is None


def test_the_last_session_decides_whether_anything_is_offered(place: Place) -> None:
    leave(place, name="older")
    leave(place, "Is the port 8443?", name="old", is_done=True)
    assert offer(place.places()) is None


@pytest.mark.parametrize(
    ("age_s", "is_offered"), [(MAX_AGE_S - 2 * IDLE_S, True), (MAX_AGE_S, False)]
)
def test_work_of_more_than_a_week_ago_is_not_offered(
    place: Place, age_s: float, is_offered: bool
) -> None:
    leave(place)
    assert (offer(place.places(), age_s=age_s) is not None) is is_offered


def test_a_session_that_is_open_now_is_not_offered(place: Place) -> None:
    leave(place)
    register = place.home / ".claude" / "sessions"
    register.mkdir(parents=True)
    said = {"sessionId": "old", "pid": os.getpid()}
    path = register / f"{os.getpid()}.json"
    path.write_text(json.dumps(said))
    assert offer(place.places()) is None
    # The agent that asks may have the session open that it has just cleared.
    path.write_text(json.dumps(said | {"pid": os.getppid()}))
    assert offer(place.places()) is not None


def go_on(place: Place, *, is_done: bool, minutes: float = 3) -> None:
    """Have the session `old` go on some minutes after its checkpoint, which was 10 minutes ago."""
    (path,) = place.state.rglob("cp_001.yaml")
    written = re.search(r"created_at: \S+", path.read_text())
    assert written is not None
    at = datetime.now(UTC) - timedelta(minutes=10)
    stamp = f"created_at: {at.isoformat(timespec='seconds')}"
    path.write_text(path.read_text().replace(written[0], stamp))
    file = ClaudeFile(cwd=str(place.cwd), session_id="old")
    file.user("Fix the parcel router.")
    file.assistant(text("It is fixed."), usage=9_000, stop_reason="end_turn")
    if not is_done:
        file.user("Write the release notes.")
    transcript = place.write("old.jsonl", file.data)
    os.utime(transcript, (at.timestamp() + 60 * minutes,) * 2)


def test_what_a_session_did_after_its_checkpoint_is_read_from_its_transcript(place: Place) -> None:
    leave(place)
    go_on(place, is_done=False)
    told = offer(place.places())
    assert told is not None
    assert "Write the release notes." in told.text
    assert "7 minutes ago" in told.text
    assert told.checkpoint_id == "cp_002"


@pytest.mark.parametrize("minutes", [0.1, 3])
def test_work_that_was_done_after_the_checkpoint_is_not_offered(
    place: Place, minutes: float
) -> None:
    leave(place)
    go_on(place, is_done=True, minutes=minutes)
    assert offer(place.places()) is None


def test_stale_work_is_not_offered_where_its_transcript_is_too_long(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave(place)
    go_on(place, is_done=False)
    monkeypatch.setattr("ullage.app.checkpoint.last_work.MAX_READ_BYTES", 100)
    assert offer(place.places()) is None


def test_read_only_the_state_of_a_session_that_went_on_comes_with_the_question(
    place: Place,
) -> None:
    leave(place)
    go_on(place, is_done=False)
    told = offer(place.places().for_reading(is_read_only=True), is_read_only=True)
    assert told is not None
    assert "Ask the user whether to go on with it; its state follows." in told.text
    assert "Working on: Write the release notes." in told.text
    assert len(list(place.state.rglob("cp_*.yaml"))) == 1


def test_a_checkpoint_whose_transcript_is_gone_is_offered(place: Place) -> None:
    leave(place)
    (place.cwd / "old.jsonl").unlink()
    assert offer(place.places()) is not None


def test_what_is_too_old_is_forgotten_at_the_next_checkpoint(place: Place) -> None:
    leave(place, name="older")
    (path,) = (place.state / "context" / "work").glob("*/*.json")
    os.utime(path, (time.time() - MAX_AGE_S - 60,) * 2)
    leave(place)
    assert not path.exists()


def test_the_setting_says_never_or_always(place: Place) -> None:
    leave(place)
    places = place.places()
    assert offer(places, mode="never") is None
    told = offer(places, mode="always", max_chars=6_000)
    assert told is not None
    assert "Its state follows, quoted.\n\nWorking on: Fix the parcel" in told.text


def test_a_session_of_the_same_key_is_given_its_state(place: Place) -> None:
    leave(place)
    config, places = Config(), place.places()
    key = "claude-code:old"
    told = offer_work(key, config, places, time.time(), session_id="second")
    assert told is not None
    assert "Its state follows, quoted.\n\nWorking on: Fix the parcel" in told.text
    assert offer_work(key, config, places, time.time(), session_id="second") is None
    assert offer_work(key, config, places, time.time(), session_id="third") is not None


def test_the_state_of_the_same_key_is_not_given_on_another_branch_or_elsewhere(
    place: Place,
) -> None:
    check_out(place.cwd, "main")
    leave(place)
    places = place.places()
    check_out(place.cwd, "side")
    for mode in ("ask", "always"):
        assert offer(places, "claude-code:old", mode) is None
        assert offer(replace(places, cwd=place.home), "claude-code:old", mode) is None
    check_out(place.cwd, "main")
    assert offer(places, "claude-code:old") is not None


def test_a_chat_is_told_nothing_of_other_sessions(place: Place) -> None:
    leave(place)
    assert offer(place.places(), "agent:main:telegram:group:7") is None


def test_secrets_are_masked(place: Place) -> None:
    leave(place, f"Use {SECRET} for the parcel router.")
    for mode in ("ask", "always"):
        told = offer(place.places(), f"claude-code:{mode}", mode)
        assert told is not None
        assert SECRET not in told.text + told.note


def test_read_only_nothing_is_written(place: Place) -> None:
    leave(place)
    before = {path: path.stat().st_mtime_ns for path in place.state.rglob("*")}
    assert offer(place.places(), is_read_only=True) is not None
    assert {path: path.stat().st_mtime_ns for path in place.state.rglob("*")} == before


def test_a_subagents_work_is_its_sessions(place: Place) -> None:
    file = ClaudeFile(cwd=str(place.cwd), session_id="old")
    file.user("Fix the parcel router.")
    session = loaded(place.write("old.jsonl", file.data), place.places())
    header = replace(session.session.header, parent_session_id="parent")
    session = replace(session, session=replace(session.session, header=header))
    write_checkpoint(session, CheckpointSettings(), place.places(), trigger="manual")
    assert offer(place.places()) is None


def test_a_damaged_note_or_checkpoint_is_passed_over(place: Place) -> None:
    leave(place)
    (note,) = (place.state / "context" / "work").glob("*/*.json")
    note.with_name("broken.json").write_bytes(b"{")
    # As one that another process removes between a look at the folder and one at the file.
    note.with_name("gone.json").symlink_to(note.with_name("nothing"))
    assert offer(place.places()) is not None
    (path,) = place.state.rglob("cp_001.yaml")
    path.write_bytes(b"{")
    assert offer(place.places(), "claude-code:newer") is None
