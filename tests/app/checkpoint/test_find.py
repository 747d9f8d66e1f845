"""Checkpoints of real sessions: written once, found, restored into each agent's, taken back."""

import json
import multiprocessing
import re
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from claude_files import ClaudeFile, text
from codex_files import CodexFile
from pi_files import PiFile
from planning import SMALL, compacted, loaded, restored, undone
from ullage.app.change.restore import NewPlan, plan_restore, restore
from ullage.app.change.undo import plan_undo
from ullage.app.checkpoint.capture import capture
from ullage.app.checkpoint.find import compare, find_checkpoint, list_checkpoints
from ullage.app.checkpoint.resume import resume
from ullage.app.checkpoint.write import (
    MCP,
    Trigger,
    WrittenCheckpoint,
    build_checkpoint,
    write_checkpoint,
)
from ullage.app.sessions.load import read
from ullage.app.sessions.open import open_session
from ullage.core.checkpoint.captured import ToolEvent
from ullage.core.config.settings import CheckpointSettings, Config, Policy
from ullage.core.facts.pins import Pin
from ullage.core.transcript.entries import plain_text
from ullage.errors import (
    AlreadyChanged,
    CheckpointNotFound,
    CorruptCheckpoint,
    Refused,
    StateUnwritable,
    StorageError,
    WriteNotSupported,
)
from ullage.store.checkpoint.files import POINTER_NAME, list_ids, save
from ullage.store.checkpoint.working_state import read_working_state
from ullage.store.files.demo import make_idle
from ullage.store.files.places import Places, session_folder
from ullage.store.state.pins import change_pins, pins_path, read_pins
from working_states import has_news

SETTINGS = CheckpointSettings()
N_TURNS = 20


def pi_session(n_turns: int = N_TURNS, usage: int = 9000) -> PiFile:
    pi = PiFile()
    for number in range(n_turns):
        pi.user(f"Look at module {number} of the shop and fix its tests.")
        pi.assistant(f"Module {number} is fixed, its tests pass.", usage=usage)
    return pi


def pi_data() -> bytes:
    return pi_session().data


def claude_data(n_turns: int = N_TURNS) -> bytes:
    claude = ClaudeFile()
    for number in range(n_turns):
        claude.user(f"Look at module {number} of the shop and fix its tests.")
        claude.assistant(text(f"Module {number} is fixed, its tests pass."), usage=9000)
    return claude.data


def codex_data() -> bytes:
    codex = CodexFile()
    codex.turn()
    for number in range(N_TURNS):
        codex.user(f"Look at module {number} of the shop and fix its tests.")
        codex.assistant(f"Module {number} is fixed, its tests pass.", n_total=9000)
    return codex.data


SESSIONS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "pi": ("s.jsonl", pi_data),
    "claude": ("33333333-4444-4555-8666-777777777777.jsonl", claude_data),
    "codex": (
        "rollout-2026-11-21T02-09-56-01a1fbde-0000-7000-8000-000000000001.jsonl",
        codex_data,
    ),
}


@pytest.fixture(params=tuple(SESSIONS))
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Give an idle session of each agent."""
    name, data = SESSIONS[request.param]
    return idle(tmp_path / "sessions" / name, data())


def idle(path: Path, data: bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    make_idle(path)
    return path


def write(
    path: Path, places: Places, trigger: Trigger = "manual", n_kept: int = 5
) -> WrittenCheckpoint:
    settings = msgspec.structs.replace(SETTINGS, n_kept=n_kept)
    return write_checkpoint(loaded(path, places), settings, places, trigger=trigger)


def texts(path: Path, places: Places) -> list[str]:
    return [plain_text(i.message) for i in read(open_session(path), places).context.items]


def test_what_says_the_same_is_written_once(path: Path, places: Places) -> None:
    first = write(path, places)
    assert first.is_new
    for trigger in ("manual", "auto-80pct", "compaction", "session-end"):
        again = write(path, places, trigger)
        assert (again.is_new, again.path, again.checkpoint) == (
            False,
            first.path,
            first.checkpoint,
        )
    assert len(list_ids(first.path.parent)) == 1


def test_half_a_character_is_no_change(tmp_path: Path, places: Places) -> None:
    pi = pi_session()
    pi.user("Never use \ud83d in names. Fix it.")
    pi.assistant("I fixed \udc00.", usage=9000)
    path = idle(tmp_path / "s.jsonl", pi.data)
    first = write(path, places)
    assert "\ufffd" in first.checkpoint.thread.summary
    assert not write(path, places).is_new


@pytest.mark.parametrize(
    ("trigger", "usage", "is_new"),
    [
        ("auto-80pct", 9300, False),
        ("auto-80pct", 9500, True),
        ("compaction", 9300, True),
        ("manual", 9001, True),
    ],
)
def test_a_turn_later_it_depends_on_who_asks(
    trigger: Trigger, usage: int, is_new: bool, tmp_path: Path, places: Places
) -> None:
    path = idle(tmp_path / "s.jsonl", pi_session().data)
    first = write(path, places)
    pi = pi_session()
    pi.user("And now the docs, please.")
    pi.assistant("The docs are written.", usage=usage)
    idle(path, pi.data)
    later = write(path, places, trigger)
    assert later.is_new == is_new
    if is_new:
        assert later.checkpoint.meta.previous_checkpoint == first.checkpoint.meta.checkpoint_id
        assert later.checkpoint.meta.checkpoint_id == "cp_002"


def test_a_compaction_with_few_tokens_more_and_the_same_state_writes_nothing(
    tmp_path: Path, places: Places
) -> None:
    path = idle(tmp_path / "s.jsonl", pi_session(usage=9000).data)
    write(path, places)
    idle(path, pi_session(usage=9400).data)
    assert not write(path, places, "compaction").is_new
    idle(path, pi_session(usage=9500).data)
    assert write(path, places, "compaction").is_new


def test_the_chain_goes_over_a_damaged_link(tmp_path: Path, places: Places) -> None:
    path = tmp_path / "s.jsonl"
    for number in range(1, 4):
        idle(path, pi_session(number).data)
        written = write(path, places)
    written.path.write_bytes(b"")
    session = open_session(path)
    found = find_checkpoint(session, None, places)
    assert found.checkpoint_id == "cp_002"
    assert "cp_003.yaml is damaged" in (found.problem or "")
    idle(path, pi_session(4).data)
    after = write(path, places)
    assert after.checkpoint.meta.checkpoint_id == "cp_004"
    assert after.checkpoint.meta.previous_checkpoint == "cp_002"
    assert "cp_003.yaml is damaged" in (after.problem or "")
    difference = compare(session, None, None, places)
    assert (difference.old.checkpoint_id, difference.new.checkpoint_id) == ("cp_002", "cp_004")
    assert compare(session, "1", None, places).old.checkpoint_id == "cp_001"
    listing = list_checkpoints(session, places)
    assert [one.checkpoint_id for one in listing.saved] == ["cp_004", "cp_002", "cp_001"]
    assert len(listing.problems) == 1
    with pytest.raises(CorruptCheckpoint, match=r"cp_003\.yaml is damaged"):
        find_checkpoint(session, "cp_003", places)


def test_the_chain_goes_over_a_link_that_retention_took(tmp_path: Path, places: Places) -> None:
    path = tmp_path / "s.jsonl"
    for number in range(1, 5):
        idle(path, pi_session(number).data)
        write(path, places, n_kept=2)
    folder = session_folder("checkpoints", open_session(path).state_key, places)
    assert list_ids(folder) == ("cp_003", "cp_004")
    (folder / "cp_003.yaml").unlink()
    with pytest.raises(CheckpointNotFound, match="only checkpoint"):
        compare(open_session(path), None, None, places)


@pytest.mark.parametrize("asked", ["9", "cp_009", "latest", "../x", "-1", "9" * 5000, "²"])
def test_an_unknown_id_names_the_known_ones(asked: str, path: Path, places: Places) -> None:
    session = open_session(path)
    with pytest.raises(CheckpointNotFound, match="`ullage checkpoint write` makes one"):
        find_checkpoint(session, asked, places)
    write(path, places)
    with pytest.raises(CheckpointNotFound, match=r", only cp_001\Z"):
        find_checkpoint(session, asked, places)
    assert find_checkpoint(session, "1", places).checkpoint_id == "cp_001"


def test_a_checkpoint_goes_to_the_end_of_a_session_and_is_taken_back(
    path: Path, places: Places
) -> None:
    before, data = texts(path, places), path.read_bytes()
    plan = restored(path, places, "session")
    assert texts(plan.path_after, places) == [*before, plan.text]
    items = read(open_session(plan.path_after), places).context.items
    assert items[-1].category == "injected"
    assert plan.text.startswith("[Post-compaction checkpoint restore]\n\nWorking on: Look at")
    assert path.read_bytes().startswith(data)
    if plan.path_after == path:
        assert undone(path, places).after.path == path
    else:
        assert undone(plan.path_after, places).after.path == path
        assert not plan.path_after.exists()
    assert texts(path, places) == before


def test_a_new_session_begins_with_a_checkpoint(path: Path, places: Places) -> None:
    data = path.read_bytes()
    plan = restored(path, places, "new")
    assert isinstance(plan.change, NewPlan)
    new = open_session(plan.path_after)
    assert texts(plan.path_after, places) == [plan.text]
    assert new.header.cwd == open_session(path).header.cwd
    assert new.header.session_id != open_session(path).header.session_id
    assert path.read_bytes() == data
    assert find_checkpoint(new, None, places).checkpoint == plan.checkpoint
    another = restored(path, places, "new")
    assert another.path_after != plan.path_after


def test_a_new_session_has_the_checkpoint_that_it_was_made_from_and_the_pins(
    path: Path, places: Places
) -> None:
    first = write(path, places).checkpoint
    changed = msgspec.structs.replace(
        first,
        meta=msgspec.structs.replace(first.meta, checkpoint_id="cp_002"),
        working=msgspec.structs.replace(first.working, topic="the later thing"),
    )
    key = open_session(path).state_key
    save(changed, session_folder("checkpoints", key, places), n_kept=5)
    pin = Pin(text="Never touch main.")
    change_pins(pins_path(key, places), lambda _: (pin,), places)
    plan = plan_restore(loaded(path, places), first, "new", SMALL)
    restore(plan, SMALL, places)
    new = open_session(plan.path_after).state_key
    given = resume(new, SETTINGS, places)
    assert given is not None
    assert (given.checkpoint_id, given.text) == ("cp_001", plan.text)
    assert read_pins(pins_path(new, places)).pins == (pin,)


def test_a_session_that_only_holds_a_checkpoint_is_not_emptied_by_an_undo(places: Places) -> None:
    path = idle(places.cwd / "s.jsonl", pi_session().data)
    plan = plan_restore(loaded(path, places), write(path, places).checkpoint, "new", SMALL)
    restore(plan, SMALL, places)
    with pytest.raises(Refused, match="begun with the checkpoint"):
        plan_undo(open_session(plan.path_after), SMALL, places)


def test_secrets_of_an_old_checkpoint_are_not_told(path: Path, places: Places) -> None:
    secret = "a-value-of-no-form-at-all"
    first = write(path, places).checkpoint
    old = msgspec.structs.replace(
        first,
        meta=msgspec.structs.replace(first.meta, checkpoint_id="cp_002"),
        open_items=(f"Log in with {secret}.",),
    )
    key = open_session(path).state_key
    save(old, session_folder("checkpoints", key, places), n_kept=5)
    knowing = msgspec.structs.replace(places, env={**places.env, "SHOP_TOKEN": secret})
    given = resume(key, SETTINGS, knowing)
    plan = plan_restore(loaded(path, knowing), old, "new", SMALL)
    for told in (given.text if given else "", plan.text):
        assert "Log in with [REDACTED" in told
        assert secret not in told


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
@pytest.mark.parametrize("kind", ["checkpoints", "state"])
def test_a_checkpoint_is_built_where_our_folders_cannot_be_read(
    kind: str, path: Path, places: Places
) -> None:
    folder = session_folder(kind, open_session(path).state_key, places)
    folder.parent.mkdir(parents=True)
    folder.symlink_to(folder.name)
    with pytest.raises(StorageError, match=re.escape(str(folder))):
        write(path, places)
    built = build_checkpoint(loaded(path, places), places, trigger="compaction")
    assert built.working.topic.startswith("Look at module")


def test_a_session_that_another_one_began_from_can_be_compacted(
    tmp_path: Path, places: Places
) -> None:
    path = idle(tmp_path / SESSIONS["claude"][0], claude_data(100))
    restored(path, places, "new")
    _, made = compacted(path, places)
    assert made.session.path != path


def test_what_followed_a_restored_checkpoint_in_pi_stays_when_it_is_taken_out(
    tmp_path: Path, places: Places
) -> None:
    path = idle(tmp_path / "s.jsonl", pi_session().data)
    before = texts(path, places)
    plan = restored(path, places, "session")
    leaf = json.loads(path.read_bytes().splitlines()[-1])["id"]
    pi = PiFile(header=False)
    pi.ids = ["x"] * 50
    pi.leaf = leaf
    pi.user("Go on with the docs.")
    pi.assistant("The docs are done.", usage=9800)
    idle(path, path.read_bytes() + pi.data)
    assert texts(path, places) == [*before, plan.text, "Go on with the docs.", "The docs are done."]
    undone(path, places)
    assert texts(path, places) == [*before, "Go on with the docs.", "The docs are done."]
    with pytest.raises(Refused, match="to undo"):
        undone(path, places)


def test_two_restored_checkpoints_are_taken_back_one_by_one(tmp_path: Path, places: Places) -> None:
    path = idle(tmp_path / "s.jsonl", pi_session().data)
    before = texts(path, places)
    first = restored(path, places, "session", text="the first thing")
    second = restored(path, places, "session", text="the second thing")
    assert texts(path, places) == [*before, first.text, second.text]
    undone(path, places)
    assert texts(path, places) == [*before, first.text]
    undone(path, places)
    assert texts(path, places) == before


def test_a_compaction_after_a_restored_checkpoint_is_undone_first(
    tmp_path: Path, places: Places
) -> None:
    path = idle(tmp_path / "s.jsonl", pi_session(30).data)
    before = texts(path, places)
    plan = restored(path, places, "session")
    compacted(path, places)
    assert len(texts(path, places)) < len(before)
    undone(path, places)
    assert texts(path, places) == [*before, plan.text]
    undone(path, places)
    assert texts(path, places) == before


def test_a_restored_checkpoint_is_not_what_the_user_said(path: Path, places: Places) -> None:
    written = write(path, places).checkpoint
    plan = restored(path, places, "session")
    again = write(plan.path_after, places).checkpoint
    assert again.working.topic == written.working.topic
    assert again.decisions == written.decisions
    assert again.thread == written.thread


def test_a_restored_session_has_the_checkpoint_that_it_was_restored_from(
    path: Path, places: Places
) -> None:
    plan = restored(path, places, "session")
    found = find_checkpoint(open_session(plan.path_after), None, places)
    assert found.checkpoint == plan.checkpoint


def test_a_session_that_goes_on_elsewhere_takes_no_second_checkpoint(
    tmp_path: Path, places: Places
) -> None:
    name, data = SESSIONS["claude"]
    path = idle(tmp_path / name, data())
    restored(path, places, "session")
    with pytest.raises(AlreadyChanged, match="goes on already in"):
        restored(path, places, "session")


def test_nothing_stands_between_a_call_and_its_result(tmp_path: Path, places: Places) -> None:
    pi = pi_session()
    pi.user("Run it.")
    pi.assistant("", calls=[("c1", "bash", {"command": "ls"})], stop="toolUse")
    path = idle(tmp_path / "s.jsonl", pi.data)
    checkpoint = write(path, places).checkpoint
    with pytest.raises(Refused, match="--into new"):
        plan_restore(loaded(path, places), checkpoint, "session", SMALL)
    assert texts(restored(path, places, "new").path_after, places)


def test_a_read_only_workspace_takes_no_session(path: Path, places: Places) -> None:
    config = Config(policy=Policy(is_read_only=True))
    found = loaded(path, places, config)
    checkpoint = write(path, places).checkpoint
    files = sorted(path.parent.iterdir())
    for into in ("session", "new"):
        plan = plan_restore(found, checkpoint, into, config)
        with pytest.raises(WriteNotSupported, match="read-only"):
            restore(plan, config, places)
    assert sorted(path.parent.iterdir()) == files


def write_at_once(path: Path, places: Places, n_checkpoints: int) -> None:
    for _ in range(n_checkpoints):
        write(path, places)


def test_processes_that_write_the_same_at_once_write_it_once(
    tmp_path: Path, places: Places
) -> None:
    path = idle(tmp_path / "s.jsonl", pi_session().data)
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_at_once, args=(path, places, 5)) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0]
    listing = list_checkpoints(open_session(path), places)
    assert [one.checkpoint_id for one in listing.saved] == ["cp_001"]


def captured(path: Path, places: Places, name: str) -> None:
    """Capture a call that the transcript does not show."""
    event = ToolEvent(
        call_id=f"call_{name}_0123456789", name="edit", arguments=f'{{"path":"{name}"}}'
    )
    capture(open_session(path).state_key, [event], places)


def test_what_was_captured_is_bundled_and_reset(path: Path, places: Places) -> None:
    key = open_session(path).state_key
    captured(path, places, "depot.py")
    written = write(path, places)
    assert "depot.py" in written.checkpoint.resources.files_modified
    assert not has_news(read_working_state(key, places))
    captured(path, places, "depot.py")
    assert not has_news(read_working_state(key, places))
    captured(path, places, "route.py")
    again = write(path, places)
    assert again.is_new
    assert "route.py" in again.checkpoint.resources.files_modified


def test_what_is_bundled_twice_stands_once(path: Path, places: Places) -> None:
    session = open_session(path)
    captured(path, places, "depot.py")
    folder = session_folder("state", session.state_key, places)
    kept = {one: one.read_bytes() for one in folder.glob("*.json")}
    first = write(path, places).checkpoint
    # As by a process that is killed before it points to its checkpoint.
    (session_folder("checkpoints", session.state_key, places) / POINTER_NAME).unlink()
    for one, data in kept.items():
        one.write_bytes(data)
    assert has_news(read_working_state(session.state_key, places))
    assert not write(path, places).is_new
    captured(path, places, "route.py")
    later = write(path, places).checkpoint
    assert later.resources.files_modified == (*first.resources.files_modified, "route.py")


def test_what_cannot_be_reset_is_told_and_the_checkpoint_is_there(
    path: Path, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    captured(path, places, "depot.py")

    def full(*_: object) -> None:
        raise StateUnwritable("the disk is full")

    monkeypatch.setattr("ullage.store.checkpoint.working_state._write", full)
    written = write(path, places)
    assert written.is_new
    assert written.path.is_file()
    assert (written.problem or "").endswith("could not be reset (the disk is full)")


def test_what_no_checkpoint_took_stays_captured(path: Path, places: Places) -> None:
    write(path, places)
    captured(path, places, "depot.py")
    assert not write(path, places, "auto-80pct").is_new
    assert has_news(read_working_state(open_session(path).state_key, places))
    assert "depot.py" in write(path, places, "compaction").checkpoint.resources.files_modified


def test_a_checkpoint_says_by_which_edge_it_was_asked_for(path: Path, places: Places) -> None:
    written = write_checkpoint(loaded(path, places), SETTINGS, places, trigger="manual", origin=MCP)
    assert written.checkpoint.meta.channel == "mcp"
