"""What a review found: each case as it was shown."""

import json
import os
import tracemalloc
from pathlib import Path

import pytest

from pi_files import PiFile, json_line
from planning import SMALL, compacted, loaded, planned, undone
from ullage.app.change.compact import compact
from ullage.app.gauge.history import read_history
from ullage.app.sessions.load import read
from ullage.app.sessions.open import open_session
from ullage.errors import ChangedMeanwhile, Refused, SessionLive
from ullage.store.files.demo import make_idle
from ullage.store.files.places import Places
from ullage.store.transcript.reader import FileLines


def long_session(*, system: bool = False) -> PiFile:
    pi = PiFile()
    if system:
        pi.message("system", content="You are careful.", sections={"a": "old", "b": "kept"})
        pi.message("system", content="", sections={"a": "new"}, toolsAdded=[{"name": "read"}])
    for number in range(30):
        pi.user(f"Please look at file number {number} and tell me what it does, in a few words.")
        pi.assistant(f"It does the {number}th thing, quite well and at some length.", usage=9000)
    return pi


def idle(path: Path, pi: PiFile) -> Path:
    path.write_bytes(pi.data)
    make_idle(path)
    return path


def test_a_compaction_keeps_the_system_message_in_force(tmp_path: Path, places: Places) -> None:
    path = idle(tmp_path / "s.jsonl", long_session(system=True))
    compacted(path, places)
    items = read(open_session(path), places).context.items
    assert [item.native["role"] for item in items[:2]] == ["system", "compactionSummary"]
    system = items[0].native
    assert system["content"] == "You are careful."
    assert system["sections"] == {"a": "new", "b": "kept"}
    assert system["toolsAdded"] == [{"name": "read"}]


@pytest.mark.parametrize(
    "later",
    [
        {"type": "context_edit", "targetId": "x", "replacement": None},
        {"type": "model_change", "provider": "openai", "modelId": "gpt-5"},
    ],
)
def test_undo_is_refused_where_anything_came_after(
    later: dict[str, object], tmp_path: Path, places: Places
) -> None:
    path = idle(tmp_path / "s.jsonl", long_session())
    compacted(path, places)
    leaf = read(open_session(path), places).context.leaf_id
    with path.open("ab") as file:
        file.write(json_line({**later, "id": "feedbee5", "parentId": leaf}))
    make_idle(path)
    before = path.read_bytes()
    with pytest.raises(Refused, match="went on"):
        undone(path, places)
    assert path.read_bytes() == before


def test_a_change_of_the_same_length_is_a_change(tmp_path: Path, places: Places) -> None:
    path = idle(tmp_path / "s.jsonl", long_session())
    plan = planned(path, places)
    changed = path.read_bytes().replace(b"file number 3 ", b"file number 4 ")
    path.write_bytes(changed)
    with pytest.raises(SessionLive):
        compact(plan, SMALL, places)
    make_idle(path)
    with pytest.raises(ChangedMeanwhile):
        compact(plan, SMALL, places)
    assert path.read_bytes() == changed


@pytest.mark.parametrize("ending", [b"", b"\n"])
def test_a_line_of_any_length_takes_bounded_memory(ending: bytes, tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(b'{"type":"session","id":"s"}\n')
        for _ in range(300):
            file.write(b"x" * 1_000_000)
        file.write(ending)
    tracemalloc.start()
    forward = [(line.offset, line.is_torn) for line in FileLines(path).forward()]
    backward = [(line.offset, line.is_torn) for line in FileLines(path).backward()]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert forward == backward[::-1] == [(0, False), (28, ending == b"")]
    assert peak < 200_000_000


def test_the_path_goes_on_through_a_line_that_is_too_long(tmp_path: Path, places: Places) -> None:
    pi = PiFile()
    pi.user("before")
    pi.user("x" * 70_000_000)
    pi.user("after")
    context = read(open_session(idle(tmp_path / "s.jsonl", pi)), places).context
    assert [item.entry_id for item in context.items] == [pi.ids[0], pi.ids[2]]


@pytest.mark.parametrize("stamp", ["9999-12-31T23:59:59.999-12:00", 10**17, "0001-01-01T00:00Z"])
def test_a_time_that_no_calendar_has_is_none(stamp: object, tmp_path: Path, places: Places) -> None:
    pi = PiFile()
    kept = pi.user("hello")
    pi.compaction("## Goal", kept, timestamp=stamp)
    report = read_history(open_session(idle(tmp_path / "s.jsonl", pi)), places)
    assert [one.id for one in report.compactions] == [pi.ids[-1]]


def test_a_compaction_of_version_1_has_an_id(tmp_path: Path, places: Places) -> None:
    pi = PiFile(version=1)
    pi.user("hello")
    pi.compaction("S", 1)
    report = read_history(open_session(idle(tmp_path / "s.jsonl", pi)), places)
    assert report.compactions[0].id


def test_our_folders_are_open_to_the_user_alone(tmp_path: Path, places: Places) -> None:
    compacted(idle(tmp_path / "s.jsonl", long_session()), places)
    folders = [path for path in places.state_folder.rglob("*") if path.is_dir()]
    assert len(folders) >= 4
    if os.name == "posix":
        assert {oct(path.stat().st_mode & 0o777) for path in folders} == {"0o700"}


def test_what_a_compaction_noted_is_not_called_reported(tmp_path: Path, places: Places) -> None:
    path = idle(tmp_path / "s.jsonl", long_session())
    before = path.read_bytes()
    plan, made = compacted(path, places)
    n_after = plan.change.n_tokens_after
    gauge = loaded(made.session.path, places).status.gauge
    assert (gauge.n_reported, gauge.n_noted) == (0, n_after)
    assert json.loads(path.read_bytes()[len(before) :])["details"]["tokensAfter"] == n_after
