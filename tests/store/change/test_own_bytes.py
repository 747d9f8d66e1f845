"""What an interrupted append left: ours is finished or taken back, theirs is never touched."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.changing import OLD, OURS, record
from ullage.store.change.journal import AppendIntent
from ullage.store.change.own_bytes import Outcome, settle
from ullage.store.change.session_lock import OpenTranscript, open_to_change
from ullage.store.transcript.reader import read_at

THEIRS = record("a1", "e3", "of the agent")


def settled(path: Path, data: bytes, *, is_exclusive: bool) -> tuple[Outcome, bytes]:
    with open_to_change(path) as file:
        if not is_exclusive:
            file.let_go()
        found = path.stat()
        intent = AppendIntent(device=found.st_dev, inode=found.st_ino, offset=len(OLD), data=data)
        outcome = settle(file, intent)
        return outcome, read_at(file.fd, 0, 1 << 20)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("own") / "s.jsonl"


both_ways = pytest.mark.parametrize("is_exclusive", [True, False], ids=["alone", "beside others"])


@both_ways
@given(n_written=st.integers(0, len(OURS)), start=st.sampled_from([b"", b"\n"]))
def test_a_part_of_ours_at_the_end_goes_and_the_whole_stays(
    path: Path, is_exclusive: bool, n_written: int, start: bytes
) -> None:
    data = start + OURS
    path.write_bytes(OLD + data[:n_written])
    outcome, left = settled(path, data, is_exclusive=is_exclusive)
    assert left.startswith(OLD)
    if n_written >= len(data) - 1:
        assert (outcome, left) == ("whole", OLD + data)
    else:
        assert outcome in ("withdrawn", "absent")
        assert left[len(OLD) :].strip() == b""


@both_ways
@given(
    n_written=st.integers(0, len(OURS) - 1),
    n_blanked=st.integers(0, 20),
    before=st.booleans(),
    n_behind=st.integers(1, 3),
    text=st.text(),
)
def test_records_of_an_agent_stand_whole_however_they_met_ours(
    path: Path, is_exclusive: bool, n_written: int, n_blanked: int, before: bool,
    n_behind: int, text: str,
) -> None:  # fmt: skip
    behind = [record(f"b{number}", "a1", text) for number in range(n_behind)]
    torn = OURS[:n_written]
    torn = b" " * min(n_blanked, len(torn)) + torn[n_blanked:]
    path.write_bytes(OLD + (THEIRS if before else b"") + torn + b"".join(behind))
    _, left = settled(path, OURS, is_exclusive=is_exclusive)
    wanted = OLD + (THEIRS if before else b"") + b"".join(behind)
    assert [json.loads(line) for line in left.split(b"\n") if line.strip()] == [
        json.loads(line) for line in wanted.split(b"\n") if line
    ]
    again, left_again = settled(path, OURS, is_exclusive=is_exclusive)
    assert (again, left_again) == ("absent", left)


@given(st.binary(max_size=40), st.integers(0, 30))
def test_what_is_not_ours_is_left_as_it_is(path: Path, foreign: bytes, n_alike: int) -> None:
    there = OLD + OURS[:n_alike] + b"\xff" + foreign
    path.write_bytes(there)
    _, left = settled(path, OURS, is_exclusive=True)
    assert left == there


def test_ours_behind_anothers_is_taken_back_as_it_would_hide_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ullage.store.change.session_lock._ask_for_lease", lambda _: "no leases")
    path.write_bytes(OLD + THEIRS + OURS)
    outcome, left = settled(path, OURS, is_exclusive=False)
    assert (outcome, left.rstrip()) == ("withdrawn", (OLD + THEIRS).rstrip())


def test_ours_behind_anothers_stays_where_an_agent_went_on_from_it(path: Path) -> None:
    there = OLD + THEIRS + OURS + record("a2", "c1")
    path.write_bytes(there)
    assert settled(path, OURS, is_exclusive=True) == ("unclear", there)


@both_ways
@given(st.integers(0, 2 * len(OURS)))
def test_a_line_of_ours_that_an_agent_may_have_read_is_followed_by_the_others(
    path: Path, is_exclusive: bool, n_written: int
) -> None:
    data = OURS + record("c2", "c1")
    n_written = min(n_written, len(data))
    path.write_bytes(OLD + data[:n_written])
    outcome, left = settled(path, data, is_exclusive=is_exclusive)
    if n_written >= len(OURS) - 1:
        assert (outcome, left) == ("whole", OLD + data)
    else:
        assert left[len(OLD) :].strip() == b""


def test_a_lease_is_no_ones_who_only_has_the_class() -> None:
    assert not OpenTranscript(-1, Path()).is_awaited()
