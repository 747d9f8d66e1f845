"""The daily log: the user's own file, added to and never changed otherwise."""

import errno
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.memory.flush import Epoch
from ullage.errors import LogRefused, StorageError
from ullage.store.files.places import Places
from ullage.store.memory import daily_log
from ullage.store.memory.daily_log import append_block, log_path, read_logs
from ullage.store.state.flush_state import MAX_DIGESTS, FlushState, read_flush_state, record_flush
from ullage.store.state.runtime_state import carry_state

DAY = "2026-11-21"
MARKER = "<!-- ullage flush a:b epoch 0 -->"
BLOCK = f"## 10:00 — t\n\n**Notes:**\n- é\n\n{MARKER}\n"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    workspace = tmp_path / "ws"
    workspace.mkdir()
    return Places(cwd=workspace, home=tmp_path, env={}, state_folder=tmp_path / "state")


def add(places: Places, block: str = BLOCK, marker: str = MARKER) -> bool:
    def compose(log: str) -> str:
        return "" if marker and marker in log else block

    return bool(append_block(places.cwd, DAY, compose, places))


def log_of(places: Places) -> Path:
    return log_path(places.cwd, DAY)


def given_log(places: Places, data: bytes) -> Path:
    path = log_of(places)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_log_is_made_with_its_heading(places: Places) -> None:
    assert add(places)
    assert log_of(places).read_bytes() == f"# {DAY}\n\n{BLOCK}".encode()
    assert read_logs(places.cwd, DAY) == (f"# {DAY}\n\n{BLOCK}", "")


def test_a_block_whose_marker_stands_there_is_not_written_again(places: Places) -> None:
    assert add(places)
    before = log_of(places).read_bytes()
    assert not add(places)
    assert log_of(places).read_bytes() == before
    assert add(places, marker="")


@pytest.mark.parametrize(
    ("there", "between"),
    [
        (b"# mine\n", b"\n"),
        (b"# mine\n\n", b""),
        (b"# mine", b"\n\n"),
        (b"\xef\xbb\xbf# mine\n", b"\n"),
        (b"caf\xe9 in latin-1\n", b"\n"),
    ],
)
def test_what_stands_in_a_log_stays_and_gets_its_final_line_end(
    places: Places, there: bytes, between: bytes
) -> None:
    path = given_log(places, there)
    assert add(places)
    assert path.read_bytes() == there + between + BLOCK.encode()


@pytest.mark.parametrize(
    "there", [b"# mine\r\n", b"# mine\r\n\r\n", b"# mine\r\nno end", b"a\r\n" * 1000]
)
def test_the_line_ends_of_a_log_are_kept(places: Places, there: bytes) -> None:
    path = given_log(places, there)
    assert add(places)
    added = path.read_bytes().removeprefix(there)
    assert added.count(b"\r\n") == added.count(b"\n")
    assert added.endswith(BLOCK.replace("\n", "\r\n").encode())
    assert read_logs(places.cwd, DAY)[0].endswith(BLOCK)


@pytest.mark.parametrize("there", [b"", b" \n", b"\xef\xbb\xbf"])
def test_an_empty_log_gets_its_heading(places: Places, there: bytes) -> None:
    path = given_log(places, there)
    assert add(places)
    assert path.read_bytes() == there + f"# {DAY}\n\n{BLOCK}".encode()


@given(there=st.binary(max_size=40).filter(lambda data: b"\0" not in data))
def test_a_log_only_ever_grows(tmp_path_factory: pytest.TempPathFactory, there: bytes) -> None:
    root = tmp_path_factory.mktemp("ws")
    places = Places(cwd=root, home=root, env={}, state_folder=root / "state")
    path = given_log(places, there)
    try:
        add(places)
    except LogRefused:
        assert there[:2] in (b"\xff\xfe", b"\xfe\xff")
        assert path.read_bytes() == there
        return
    data = path.read_bytes()
    assert data.startswith(there)
    assert data.replace(b"\r\n", b"\n").endswith(b"\n" + BLOCK.encode())


def test_the_last_log_before_the_day_is_read_beside_it(places: Places) -> None:
    given_log(places, b"today\n")
    for name in ("2026-11-02.md", "2026-11-19.md", "2026-11-22.md", "notes.md"):
        (places.cwd / "memory" / name).write_text(name, "utf-8")
    assert read_logs(places.cwd, DAY) == ("today\n", "2026-11-19.md")


def test_a_folder_in_place_of_the_log_is_refused(places: Places) -> None:
    log_of(places).mkdir(parents=True)
    with pytest.raises(LogRefused, match="is a folder"):
        add(places)
    with pytest.raises(LogRefused, match="is a folder"):
        read_logs(places.cwd, DAY)


def test_a_file_in_place_of_the_folder_is_refused(places: Places) -> None:
    (places.cwd / "memory").write_text("x", "utf-8")
    with pytest.raises(LogRefused, match="no folder"):
        add(places)
    assert (places.cwd / "memory").read_text("utf-8") == "x"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_a_pipe_in_place_of_the_log_holds_no_one(places: Places) -> None:
    log_of(places).parent.mkdir()
    os.mkfifo(log_of(places))
    with pytest.raises(LogRefused, match="no regular file"):
        add(places)


@pytest.mark.parametrize("data", ["text".encode("utf-16"), b"a\0b\n"])
def test_what_is_no_utf_8_text_is_refused(places: Places, data: bytes) -> None:
    path = given_log(places, data)
    with pytest.raises(LogRefused, match="UTF-8"):
        add(places)
    assert path.read_bytes() == data


def link(path: Path, target: Path) -> None:
    try:
        path.symlink_to(target)
    except OSError:
        pytest.skip("the system lets us make no links")


LINKED_TO = ("conftest.py", "AGENTS.md", ".git/hooks/post-checkout", "../theirs.md", "not-there.md")


@pytest.mark.parametrize("name", LINKED_TO)
def test_nothing_is_written_through_a_linked_log(places: Places, name: str) -> None:
    target = places.cwd / name
    target.parent.mkdir(parents=True, exist_ok=True)
    if name != "not-there.md":
        target.write_text("theirs\n", "utf-8")
    log_of(places).parent.mkdir()
    link(log_of(places), target)
    with pytest.raises(LogRefused, match="is a link"):
        add(places)
    with pytest.raises(LogRefused, match="is a link"):
        read_logs(places.cwd, DAY)
    assert not target.exists() if name == "not-there.md" else target.read_text() == "theirs\n"


@pytest.mark.parametrize("name", ["../outside", "notes", ".git/hooks", "not-there"])
def test_nothing_is_written_through_a_linked_folder(places: Places, name: str) -> None:
    target = places.cwd / name
    if name != "not-there":
        target.mkdir(parents=True)
    link(places.cwd / "memory", target)
    with pytest.raises(LogRefused, match="is a link"):
        add(places)
    with pytest.raises(LogRefused, match="is a link"):
        read_logs(places.cwd, DAY)
    assert not target.exists() or list(target.iterdir()) == []


def test_a_linked_log_of_an_earlier_day_is_not_read(places: Places) -> None:
    (places.cwd / ".env").write_text("KEY=x\n", "utf-8")
    path = given_log(places, b"today\n")
    link(path.with_name("2026-11-20.md"), places.cwd / ".env")
    assert read_logs(places.cwd, DAY) == ("today\n", "")


def test_a_workspace_that_is_reached_by_a_link_keeps_its_log(
    places: Places, tmp_path: Path
) -> None:
    link(tmp_path / "here", places.cwd)
    assert append_block(tmp_path / "here", DAY, lambda _: BLOCK, places) == BLOCK
    assert BLOCK in log_of(places).read_text("utf-8")


@pytest.mark.parametrize("is_folder", [True, False])
def test_a_link_that_comes_after_the_look_is_not_followed(
    places: Places, tmp_path: Path, *, is_folder: bool
) -> None:
    log = given_log(places, b"mine\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / log.name).write_text("theirs\n", "utf-8")

    def planted(_: str) -> str:
        if is_folder:
            log.parent.rename(tmp_path / "away")
            link(log.parent, outside)
        else:
            log.unlink()
            link(log, outside / log.name)
        return BLOCK

    with pytest.raises((LogRefused, StorageError)):
        append_block(places.cwd, DAY, planted, places)
    assert (outside / log.name).read_text("utf-8") == "theirs\n"


def test_a_loop_of_links_is_one_line(places: Places) -> None:
    (places.cwd / "memory").mkdir()
    link(log_of(places), log_of(places))
    with pytest.raises((LogRefused, StorageError)):
        add(places)


@pytest.mark.parametrize("workspace", [Path("relative"), Path("/not/there/at/all")])
def test_a_workspace_that_is_not_here_is_refused(places: Places, workspace: Path) -> None:
    with pytest.raises(LogRefused, match="no folder here"):
        append_block(workspace, DAY, lambda _: BLOCK, places)


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="the permissions do not hold"
)
def test_a_log_that_cannot_be_written_is_one_line(places: Places) -> None:
    path = given_log(places, b"mine\n")
    path.chmod(0o400)
    with pytest.raises(StorageError, match="cannot write"):
        add(places)
    assert path.read_bytes() == b"mine\n"


def patch_write(monkeypatch: pytest.MonkeyPatch, write: Callable[[int, bytes], int]) -> None:
    """Let writes to the log end otherwise; files of ours are written by another module."""
    monkeypatch.setattr(daily_log, "os", SimpleNamespace(**vars(os) | {"write": write}))


def test_a_block_that_the_disk_takes_in_part_leaves_nothing_readable(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = given_log(places, b"mine\n")

    def part(fd: int, data: bytes) -> int:
        n_written = os.write(fd, data[:20])
        with path.open("ab") as other:
            other.write(b"- of another\n")
        return n_written

    with monkeypatch.context() as patched:
        patch_write(patched, part)
        with pytest.raises(StorageError, match="a part only"):
            add(places)
    assert path.read_bytes().split() == [b"mine", b"-", b"of", b"another"]
    assert add(places)


def killed_in(places: Places, monkeypatch: pytest.MonkeyPatch, n_bytes: int) -> None:
    class Killed(BaseException):
        pass

    def part(fd: int, data: bytes) -> int:
        os.write(fd, data[:n_bytes])
        raise Killed

    with monkeypatch.context() as patched:
        patch_write(patched, part)
        with pytest.raises(Killed):
            add(places)


@pytest.mark.parametrize("n_bytes", [0, 1, 12, len(BLOCK.encode())])
def test_a_part_of_a_block_that_a_kill_left_is_gone_with_the_next_flush(
    places: Places, monkeypatch: pytest.MonkeyPatch, n_bytes: int
) -> None:
    path = given_log(places, b"mine\n")
    killed_in(places, monkeypatch, n_bytes)
    assert add(places)
    assert path.read_bytes().split() == (b"mine\n" + BLOCK.encode()).split()
    assert path.read_bytes().startswith(b"mine\n")


def test_what_another_wrote_after_a_kill_is_left_alone(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = given_log(places, b"mine\n")
    killed_in(places, monkeypatch, 0)
    theirs = b"mine\n\n## 10:00 \xe2\x80\x94 theirs, which begins as ours does\n"
    path.write_bytes(theirs)
    assert add(places)
    assert path.read_bytes().startswith(theirs)


def test_a_full_disk_is_one_line(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    path = given_log(places, b"mine\n")

    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    patch_write(monkeypatch, full)
    with pytest.raises(StorageError, match="No space left"):
        add(places)
    assert path.read_bytes() == b"mine\n"


def test_two_writers_at_once_both_get_their_block(places: Places) -> None:
    def write(n: int) -> bool:
        marker = f"<!-- ullage flush a:b epoch {n % 8} -->"
        return add(places, f"## {n % 8}\n\n- said {n % 8}\n\n{marker}\n", marker)

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(write, range(16)))
    text = log_of(places).read_text("utf-8")
    assert sum(done) == 8
    assert text.count(f"# {DAY}\n") == 1
    for n in range(8):
        assert text.count(f"## {n}\n\n- said {n}\n\n<!-- ullage flush a:b epoch {n} -->\n") == 1


def at(n_compactions: int, turn_id: str = "t") -> Epoch:
    return Epoch(n_compactions=n_compactions, turn_id=turn_id)


def test_an_epoch_and_what_was_written_are_remembered(places: Places) -> None:
    assert read_flush_state("a:b", places).epoch is None
    record_flush("a:b", places, epoch=None, digests=("one",))
    assert read_flush_state("a:b", places).epoch is None
    record_flush("a:b", places, epoch=at(0), last_compaction_at="2026-11-21T10:00:00Z")
    record_flush("a:b", places, epoch=at(3, "u"), digests=("two", "one"))
    state = read_flush_state("a:b", places)
    assert (state.epoch, state.last_compaction_at) == (at(3, "u"), "2026-11-21T10:00:00Z")
    assert state.digests == ("two", "one")
    record_flush("a:b", places, epoch=at(4), digests=tuple(map(str, range(MAX_DIGESTS))))
    assert len(read_flush_state("a:b", places).digests) == MAX_DIGESTS
    assert read_flush_state("a_b", places).epoch is None


def test_a_note_of_an_earlier_version_tells_of_no_turn(places: Places) -> None:
    record_flush("k", places, epoch=at(1))
    (path,) = places.state_folder.rglob("flush.json")
    path.write_bytes(
        b'{"version":1,"memoryFlushCompactionCount":2,"lastCompactionAt":null,"writtenPoints":[]}'
    )
    assert read_flush_state("k", places).epoch == Epoch(n_compactions=2, turn_id=None)


def test_the_session_that_goes_on_knows_what_was_written_and_counts_anew(places: Places) -> None:
    record_flush("old", places, epoch=at(3), digests=("one",), last_compaction_at="then")
    carry_state("old", "new", places)
    state = read_flush_state("new", places)
    assert (state.epoch, state.digests, state.last_compaction_at) == (None, ("one",), "then")
    record_flush("new", places, epoch=at(1), digests=("two",))
    carry_state("old", "new", places)
    assert read_flush_state("new", places).digests == ("one", "two")
    carry_state("not there", "other", places)
    assert read_flush_state("other", places) == FlushState()


def test_a_damaged_note_counts_as_none_and_is_kept_aside(places: Places) -> None:
    record_flush("k", places, epoch=at(1))
    (path,) = places.state_folder.rglob("flush.json")
    path.write_bytes(b'{"version":1,')
    assert read_flush_state("k", places).epoch is None
    record_flush("k", places, epoch=at(2))
    assert read_flush_state("k", places).epoch == at(2)
    assert path.with_name("flush.json.corrupt-1").read_bytes() == b'{"version":1,'
