"""A followed session is at every moment what a fresh reading of its file would be."""

import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_files import ClaudeFile, claude_files
from pi_files import PiFile, conversation, pi_files
from profiles import examples
from ullage.app.sessions.follow import FollowedSession, new_events, read_session
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.core.checkpoint.captured import Event, MessageEvent, ToolEvent, events_of
from ullage.core.config.settings import Config
from ullage.core.transcript.tokens import estimate
from ullage.errors import InputError, NotATranscript, Unreadable
from ullage.store.files.places import Places


def count(text: str, encoding: str) -> int:
    """Count without a tokenizer: these tests are about what is read, not how it is counted."""
    return estimate(f"{encoding[:1]}{text}")


def fresh(path: Path, places: Places) -> Loaded:
    return load(open_session(path), Config(), places, count)


def step(followed: FollowedSession, places: Places) -> FollowedSession:
    return read_session(followed.loaded.path, followed, Config(), places, count)


def check(followed: FollowedSession, path: Path, places: Places) -> None:
    expected = fresh(path, places)
    assert followed.loaded.context.items == expected.context.items
    assert followed.loaded.context.compactions == expected.context.compactions
    assert followed.loaded.context.boundary == expected.context.boundary
    assert followed.loaded.context.model == expected.context.model
    assert followed.loaded.context.n_entries == expected.context.n_entries
    assert followed.read.whole.index.title_offset == expected.reading.index.title_offset
    assert followed.loaded.status.gauge == expected.status.gauge


@pytest.fixture
def pi() -> PiFile:
    made = PiFile()
    made.user("hello")
    made.assistant("hi", usage=1200)
    return made


def begin(path: Path, data: bytes, places: Places) -> FollowedSession:
    path.write_bytes(data)
    return read_session(path, None, Config(), places, count)


@given(
    made=st.one_of(pi_files(), claude_files()),
    cuts=st.lists(st.floats(0, 1), max_size=6),
)
@settings(max_examples=examples(150))
def test_a_file_that_grows_in_any_pieces_reads_like_one_that_was_always_whole(
    made: PiFile | ClaudeFile, cuts: list[float]
) -> None:
    data = made.data
    first_line = data.find(b"\n") + 1 or len(data)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places = Places(cwd=folder, home=folder, env={}, state_folder=folder / "state")
        path = folder / "session.jsonl"
        path.write_bytes(data)
        try:
            read_session(path, None, Config(), places, count)
            followed = begin(path, data[:first_line], places)
        except NotATranscript:
            return
        for cut in [*sorted(cuts), 1.0]:
            end = max(first_line, int(len(data) * cut))
            with path.open("r+b") as file:
                file.seek(0, os.SEEK_END)
                file.write(data[file.tell() : end])
            followed = step(followed, places)
            check(followed, path, places)


def test_an_id_that_comes_again_stands_for_its_last_line(
    pi: PiFile, tmp_path: Path, places: Places
) -> None:
    path = tmp_path / "s.jsonl"
    followed = begin(path, pi.data, places)
    pi.raw(
        {
            "type": "message",
            "id": pi.ids[0],
            "parentId": pi.ids[-1],
            "timestamp": "2026-02-03T11:00:00.000Z",
            "message": {"role": "user", "content": "again", "timestamp": 1},
        }
    )
    path.write_bytes(pi.data)
    followed = step(followed, places)
    check(followed, path, places)


def test_nothing_is_read_where_nothing_was_written(
    pi: PiFile, tmp_path: Path, places: Places
) -> None:
    followed = begin(tmp_path / "s.jsonl", pi.data, places)
    assert step(followed, places) is followed


def test_a_torn_line_counts_once_it_is_whole(pi: PiFile, tmp_path: Path, places: Places) -> None:
    path = tmp_path / "s.jsonl"
    n_before = len(pi.data)
    pi.user("a new question")
    whole = pi.data
    followed = begin(path, whole[: n_before + 20], places)
    n_items = len(followed.loaded.context.items)
    path.write_bytes(whole)
    followed = step(followed, places)
    assert len(followed.loaded.context.items) == n_items + 1
    check(followed, path, places)


def shorter(data: bytes) -> bytes:
    return data[: data.rstrip(b"\n").rfind(b"\n") + 1]


def other_of_the_same_length(data: bytes) -> bytes:
    return data.replace(b"hello", b"HELLO")


@pytest.mark.parametrize("change", [shorter, other_of_the_same_length])
def test_a_file_that_was_written_anew_is_read_anew(
    change: Callable[[bytes], bytes], pi: PiFile, tmp_path: Path, places: Places
) -> None:
    path = tmp_path / "s.jsonl"
    followed = begin(path, pi.data, places)
    path.write_bytes(change(pi.data))
    os.utime(path, ns=(1, 1))
    followed = step(followed, places)
    check(followed, path, places)


def test_a_file_that_was_replaced_by_a_longer_one_is_read_anew(
    pi: PiFile, tmp_path: Path, places: Places
) -> None:
    path = tmp_path / "s.jsonl"
    followed = begin(path, pi.data, places)
    other = PiFile(session_id="other")
    for number in range(5):
        other.user(f"question {number}")
    (tmp_path / "new").write_bytes(other.data)
    (tmp_path / "new").replace(path)
    followed = step(followed, places)
    assert followed.loaded.session.header.session_id == "other"
    check(followed, path, places)


def test_a_file_that_is_gone_is_an_error_until_it_is_back(
    pi: PiFile, tmp_path: Path, places: Places
) -> None:
    path = tmp_path / "s.jsonl"
    followed = begin(path, pi.data, places)
    path.unlink()
    with pytest.raises(Unreadable):
        step(followed, places)
    path.write_bytes(b"")
    with pytest.raises(InputError):
        step(followed, places)
    pi.user("back")
    path.write_bytes(pi.data)
    followed = step(followed, places)
    check(followed, path, places)


def grow(
    path: Path, pi: PiFile, followed: FollowedSession, places: Places
) -> tuple[FollowedSession, list[Event]]:
    path.write_bytes(pi.data)
    after = step(followed, places)
    return after, list(new_events(followed, after))


def told(events: Iterable[Event]) -> list[tuple[str, str]]:
    return [
        (event.role, event.text)
        if isinstance(event, MessageEvent)
        else (event.name, event.arguments)
        for event in events
    ]


def test_what_is_appended_is_told_as_events(pi: PiFile, tmp_path: Path, places: Places) -> None:
    path = tmp_path / "s.jsonl"
    followed = begin(path, pi.data, places)
    pi.user("look at a.py")
    pi.assistant("I look.", calls=[("call_00000001", "read", {"path": "a.py"})])
    followed, events = grow(path, pi, followed, places)
    assert told(events) == [("user", "look at a.py"), ("agent", "I look.")]
    # The call came before, its result comes now.
    pi.result("call_00000001", "ENOENT: no such file", name="read", is_error=True)
    followed, events = grow(path, pi, followed, places)
    assert events == [
        ToolEvent(
            call_id="call_00000001",
            name="read",
            arguments='{"path":"a.py"}',
            is_error=True,
            error="ENOENT: no such file",
            at_ms=followed.loaded.context.items[-1].at_ms,
        )
    ]
    assert new_events(followed, step(followed, places)) == ()


def test_a_line_that_is_not_finished_is_told_once_it_is(
    pi: PiFile, tmp_path: Path, places: Places
) -> None:
    path = tmp_path / "s.jsonl"
    followed = begin(path, pi.data, places)
    pi.user("a new question")
    path.write_bytes(pi.data[:-1])
    torn = step(followed, places)
    assert len(torn.loaded.context.items) == 3
    assert new_events(followed, torn) == ()
    _, events = grow(path, pi, torn, places)
    assert told(events) == [("user", "a new question")]


def test_what_a_compaction_kept_is_not_told_again(
    pi: PiFile, tmp_path: Path, places: Places
) -> None:
    path = tmp_path / "s.jsonl"
    kept = pi.user("go on")
    followed = begin(path, pi.data, places)
    pi.compaction("## Goal\nSay hello.", kept)
    pi.user("and now this")
    _, events = grow(path, pi, followed, places)
    assert told(events) == [("user", "and now this")]


def test_another_session_under_the_same_name_tells_nothing(
    pi: PiFile, tmp_path: Path, places: Places
) -> None:
    path = tmp_path / "s.jsonl"
    followed = begin(path, pi.data, places)
    other = PiFile(session_id="other")
    other.user("an old question")
    assert grow(path, other, followed, places)[1] == []


@given(cuts=st.lists(st.floats(0, 1), max_size=6))
@settings(max_examples=examples(50))
def test_each_event_is_told_once_however_the_file_grows(cuts: list[float]) -> None:
    data = conversation(4, chars=20).data
    first_line = data.find(b"\n") + 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places = Places(cwd=folder, home=folder, env={}, state_folder=folder / "state")
        path = folder / "session.jsonl"
        followed = begin(path, data[:first_line], places)
        events: list[Event] = []
        for cut in [*sorted(cuts), 1.0]:
            with path.open("r+b") as file:
                file.seek(0, os.SEEK_END)
                file.write(data[file.tell() : max(first_line, int(len(data) * cut))])
            after = step(followed, places)
            events += new_events(followed, after)
            followed = after
        items = followed.loaded.context.items
    assert events == list(events_of(items, range(len(items))))
    assert len(events) == 16


@pytest.mark.parametrize(("parent", "n_outside"), [(None, 7_951), ("gone", 0)])
def test_right_after_a_compaction_the_prompt_and_the_tools_are_taken_from_the_first_answer(
    parent: str | None, n_outside: int, tmp_path: Path, places: Places
) -> None:
    """What a request held whose beginning is not in the file cannot be told."""
    claude = ClaudeFile()
    claude.note()
    claude.user("x" * 160, parent=parent)
    claude.assistant({"type": "text", "text": "hi"}, usage=8_007)
    claude.user("y" * 4_000)
    claude.assistant({"type": "text", "text": "ho"}, usage=10_007)
    followed = begin(tmp_path / "s.jsonl", claude.data, places)
    claude.boundary(n_after=None)
    claude.summary("z" * 400)
    (tmp_path / "s.jsonl").write_bytes(claude.data)
    followed = step(followed, places)
    check(followed, tmp_path / "s.jsonl", places)
    gauge = followed.loaded.status.gauge
    assert gauge.n_outside == pytest.approx(n_outside, abs=10)
    assert gauge.used_source == ("estimated" if n_outside else "counted")
