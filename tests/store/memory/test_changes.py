"""A change of memory is made as a whole and taken back to the byte; what others add stays."""

import errno
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from running import WAIT_S
from ullage.app.memory.origins import begin_memory, list_outside_changes, record_lines
from ullage.core.memory.inbox import cut_items, format_item, propose_item, read_items
from ullage.core.memory.origin import list_line_digests
from ullage.errors import ChangedMeanwhile, LogRefused, SessionLive, StorageError, UnknownItem
from ullage.store.change import session_lock
from ullage.store.files import atomic
from ullage.store.files.places import Places
from ullage.store.memory import change_records, daily_log, planned_files
from ullage.store.memory.change_records import list_memory_changes, record_path
from ullage.store.memory.changes import (
    make_memory_change,
    recover_memory_changes,
    undo_memory_change,
)
from ullage.store.memory.daily_log import append_text
from ullage.store.memory.places import DREAMS, MEMORY, memory_folder
from ullage.store.memory.planned_files import PlannedFile, find_memory_file

SUPERSEDED = "memory/superseded.md"
REJECTED = "rejected.txt"
FILES = (MEMORY, SUPERSEDED, REJECTED, DREAMS)


@dataclass(frozen=True)
class Memory:
    """The memory of a workspace, as a review changes it."""

    root: Path
    places: Places

    def path(self, name: str) -> Path:
        place = "state" if name == REJECTED else "workspace"
        return find_memory_file(place, name, self.root, self.places)

    def read(self, name: str) -> bytes | None:
        path = self.path(name)
        return path.read_bytes() if path.exists() else None

    def read_all(self) -> dict[str, bytes | None]:
        return {name: self.read(name) for name in FILES}

    def write(self, name: str, data: bytes) -> None:
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_bytes(data)

    def plan(self, name: str, after: bytes | None) -> PlannedFile:
        place = "state" if name == REJECTED else "workspace"
        return PlannedFile(place=place, path=name, before=self.read(name), after=after)

    def make(self, what: str = "review", **after: bytes | None) -> change_records.MemoryChange:
        names = {"memory": MEMORY, "superseded": SUPERSEDED, "rejected": REJECTED, "dreams": DREAMS}
        files = [self.plan(names[key], data) for key, data in after.items()]
        return make_memory_change(files, what, self.root, self.places)

    def undo(self) -> change_records.MemoryChange:
        return undo_memory_change(self.root, self.places)

    def recover(self) -> tuple[str, ...]:
        return recover_memory_changes(self.root, self.places)

    def list_changes(self) -> change_records.MemoryChanges:
        return list_memory_changes(self.root, self.places)

    def append(self, text: str) -> None:
        append_text(self.root, DREAMS, "DREAMS.md", lambda _: text, self.places)

    def interrupt(self, patched: pytest.MonkeyPatch, n_written: int, **after: bytes | None) -> None:
        """Make a change as a process that is killed once some of its files are written."""
        put = planned_files._put
        n_left = n_written

        def killed(write: planned_files.FileWrite, temporary: Path) -> None:
            nonlocal n_left
            if not n_left:
                raise KeyboardInterrupt
            n_left -= 1
            put(write, temporary)

        with patched.context() as inner:
            inner.setattr(planned_files, "_put", killed)
            inner.setattr(atomic, "remove_quietly", lambda _: None)
            with pytest.raises(KeyboardInterrupt):
                self.make(**after)


@pytest.fixture
def memory(tmp_path: Path, places: Places) -> Memory:
    (tmp_path / "ws").mkdir()
    return Memory(tmp_path / "ws", places)


@pytest.mark.parametrize(
    "before",
    [
        b"# Memory\r\n\r\n- a\r\n",
        b"\xef\xbb\xbf# Memory\n",
        b"- no final line end",
        b"mixed\r\nlines\n",
        b"",
        None,
    ],
)
@pytest.mark.parametrize("after", [b"- new\n", b"\xef\xbb\xbf- new\r\n", b"- new", b"", None])
def test_what_a_change_replaced_is_restored_to_the_byte(
    memory: Memory, before: bytes | None, after: bytes | None
) -> None:
    if before is not None:
        memory.write(MEMORY, before)
        memory.write(SUPERSEDED, before)
    old = memory.read_all()
    memory.make(memory=after, superseded=after, rejected=after)
    assert memory.read_all() == {
        MEMORY: after, SUPERSEDED: after, REJECTED: after, DREAMS: None,
    }  # fmt: skip
    assert memory.undo().what == "undo of “review”"
    assert memory.read_all() == old


def test_undone_twice_the_change_before_is_taken_back(memory: Memory) -> None:
    for number in range(3):
        memory.make(f"review {number}", memory=b"- %d\n" % number)
    for number in (1, 0):
        memory.undo()
        assert memory.read(MEMORY) == b"- %d\n" % number
    memory.make("review 3", memory=b"- 3\n")
    memory.undo()
    assert memory.read(MEMORY) == b"- 0\n"
    memory.undo()
    assert memory.read(MEMORY) is None
    with pytest.raises(UnknownItem, match="left to take back"):
        memory.undo()
    told = [(change.what, change.state) for change in memory.list_changes().changes]
    assert told[:2] == [("undo of “review 0”", "done"), ("undo of “review 3”", "done")]
    assert told[-1] == ("review 0", "undone")


def test_a_file_that_changed_meanwhile_is_not_written(memory: Memory) -> None:
    memory.write(DREAMS, b"- item\n")
    files = [memory.plan(MEMORY, b"- item\n"), memory.plan(DREAMS, b"")]
    memory.append("- another\n")
    before = memory.read_all()
    with pytest.raises(ChangedMeanwhile, match=r"DREAMS.md changed meanwhile; nothing was written"):
        make_memory_change(files, "review", memory.root, memory.places)
    assert memory.read_all() == before
    assert memory.list_changes().changes == ()


def test_what_an_editor_saves_at_the_last_moment_stays(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.write(MEMORY, b"- a\n")
    stage = planned_files._stage

    def save(write: planned_files.FileWrite, temporary: Path) -> None:
        stage(write, temporary)
        memory.write(MEMORY, b"- mine\n")

    with monkeypatch.context() as patched:
        patched.setattr(planned_files, "_stage", save)
        with pytest.raises(ChangedMeanwhile, match="nothing was written"):
            memory.make(memory=b"- b\n", rejected=b"no\n")
    assert (memory.read(MEMORY), memory.read(REJECTED)) == (b"- mine\n", None)
    assert memory.list_changes().changes == ()
    assert [path.name for path in memory.root.iterdir()] == [MEMORY]


def test_a_part_of_an_addition_that_a_kill_left_is_gone_before(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def part(fd: int, data: bytes) -> int:
        os.write(fd, data[:4])
        raise KeyboardInterrupt

    memory.write(DREAMS, b"- item\n")
    with monkeypatch.context() as patched:
        patched.setattr(daily_log, "os", SimpleNamespace(**vars(os) | {"write": part}))
        with pytest.raises(KeyboardInterrupt):
            memory.append("- another\n")
    with pytest.raises(ChangedMeanwhile):
        memory.make(dreams=b"")
    assert (memory.read(DREAMS) or b"").rstrip() == b"- item"
    memory.make(dreams=b"- rest\n")
    memory.append("- another\n")
    assert memory.read(DREAMS) == b"- rest\n\n- another\n"


def test_what_was_added_since_stays_behind_the_earlier_content(memory: Memory) -> None:
    memory.write(DREAMS, b"- item\n")
    memory.make(memory=b"- item\n", dreams=b"- rest\n")
    memory.append("- another\n")
    memory.undo()
    assert memory.read(DREAMS) == b"- item\n\n- another\n"
    assert memory.read(MEMORY) is None


def test_a_file_that_was_made_and_added_to_keeps_what_was_added(memory: Memory) -> None:
    memory.make(dreams=b"- item\n")
    memory.append("- another\n")
    memory.undo()
    assert memory.read(DREAMS) == b"\n- another\n"


def test_a_file_that_is_as_before_again_stays(memory: Memory) -> None:
    memory.write(MEMORY, b"- a\n")
    memory.make(memory=b"", rejected=b"no\n")
    memory.write(MEMORY, b"- a\n")
    memory.undo()
    assert memory.read(MEMORY) == b"- a\n"
    assert memory.read(REJECTED) is None


@pytest.mark.parametrize(
    ("before", "after", "now"),
    [
        (b"- a\n", b"- b\n", b"- c\n"),
        (b"- a\n", b"- b", b"- b and more\n"),
        (b"- a", b"- b\n", b"- b\n- more\n"),
        (b"- a\n", b"- a\n- b\n", b"- a\n- mine\n- b\n"),
        (b"- a\n", None, b"- c\n"),
    ],
)
def test_a_file_that_was_changed_otherwise_is_not_taken_back(
    memory: Memory, before: bytes, after: bytes | None, now: bytes
) -> None:
    memory.write(MEMORY, before)
    memory.make(rejected=b"no\n", memory=after)
    memory.write(MEMORY, now)
    with pytest.raises(ChangedMeanwhile) as refused:
        memory.undo()
    path = record_path("0001", memory.root, memory.places)
    told = str(refused.value)
    assert told.startswith("MEMORY.md was changed since, and nothing was changed")
    assert told.endswith(f"kept in {path}")
    assert (memory.read(MEMORY), memory.read(REJECTED)) == (now, b"no\n")


def link(path: Path, target: Path) -> None:
    try:
        path.symlink_to(target)
    except OSError:
        pytest.skip("the system lets us make no links")


@pytest.mark.parametrize("name", [MEMORY, DREAMS, SUPERSEDED, "memory"])
def test_nothing_is_written_through_a_link(memory: Memory, tmp_path: Path, name: str) -> None:
    target = tmp_path / "theirs"
    if name == "memory":
        target.mkdir()
    else:
        target.write_bytes(b"theirs\n")
    (memory.root / name).parent.mkdir(exist_ok=True)
    link(memory.root / name, target)
    files = [
        PlannedFile(place="workspace", path=path, before=None, after=b"- x\n")
        for path in (MEMORY, SUPERSEDED, DREAMS)
    ]
    with pytest.raises(LogRefused, match="is a link"):
        make_memory_change(files, "review", memory.root, memory.places)
    assert list(target.iterdir()) == [] if name == "memory" else target.read_bytes() == b"theirs\n"
    assert memory.list_changes().changes == ()


def test_a_workspace_that_went_away_is_not_made(memory: Memory) -> None:
    memory.root.rmdir()
    with pytest.raises(LogRefused, match="no folder"):
        make_memory_change(
            [PlannedFile(place="workspace", path=MEMORY, before=None, after=b"x\n")],
            "review", memory.root, memory.places,
        )  # fmt: skip
    assert not memory.root.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_a_file_keeps_its_mode_and_a_new_one_is_private(memory: Memory) -> None:
    memory.write(MEMORY, b"- a\n")
    memory.path(MEMORY).chmod(0o664)
    before = os.umask(0)
    try:
        memory.make(memory=b"- b\n", superseded=b"- a\n", rejected=b"no\n")
    finally:
        os.umask(before)
    modes = [memory.path(name).stat().st_mode & 0o777 for name in (MEMORY, SUPERSEDED, REJECTED)]
    assert modes == [0o664, 0o600, 0o600]
    memory.undo()
    assert memory.path(MEMORY).stat().st_mode & 0o777 == 0o664
    record = record_path("0001", memory.root, memory.places)
    assert record.stat().st_mode & 0o777 == 0o600


def test_while_another_process_writes_a_change_is_refused(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from ullage.store.files.places import Places\n"
        "from ullage.store.change.session_lock import session_lock\n"
        "root, state = map(Path, sys.argv[1:])\n"
        "places = Places(cwd=root, home=root, env={}, state_folder=state)\n"
        "with session_lock(root.resolve() / 'DREAMS.md', places):\n"
        "    print('held', flush=True); sys.stdin.read()\n"
    )
    arguments = [str(memory.root), str(memory.places.state_folder)]
    other = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with other:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == b"held"
        monkeypatch.setattr(session_lock, "LOCK_TIMEOUT_S", 0.0)
        with pytest.raises(SessionLive, match=r"working on DREAMS.md: wait"):
            memory.make(memory=b"- a\n")
        other.communicate(timeout=WAIT_S)
    assert memory.read(MEMORY) is None
    monkeypatch.setattr(session_lock, "LOCK_TIMEOUT_S", WAIT_S)
    memory.make(memory=b"- a\n")


@pytest.mark.parametrize("n_written", [0, 1, 2])
def test_what_a_killed_process_began_is_finished(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, n_written: int
) -> None:
    memory.write(DREAMS, b"- item\n")
    memory.interrupt(monkeypatch, n_written, memory=b"- item\n", rejected=b"no\n", dreams=b"")
    assert memory.list_changes().changes[0].state == "begun"
    memory.append("- another\n")
    (note,) = memory.recover()
    assert note == "review: it was interrupted, and is finished now"
    assert memory.recover() == ()
    assert (memory.read(MEMORY), memory.read(REJECTED)) == (b"- item\n", b"no\n")
    dreams = memory.read(DREAMS)
    assert dreams is not None
    assert dreams.endswith(b"\n- another\n")
    assert b"- item" not in dreams
    assert [path.name for path in memory.root.iterdir() if path.name.startswith(".")] == []
    memory.undo()
    assert (memory.read(DREAMS), memory.read(MEMORY)) == (b"- item\n" + dreams, None)


def test_what_was_added_before_a_change_is_finished_is_in_its_undo(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.write(DREAMS, b"- item\n")
    memory.interrupt(monkeypatch, 0, dreams=None)
    memory.append("- another\n")
    memory.recover()
    assert memory.read(DREAMS) == b"\n- another\n"
    memory.undo()
    assert memory.read(DREAMS) == b"- item\n\n- another\n"


def test_an_interrupted_change_of_what_somebody_changed_since_is_left(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.write(DREAMS, b"- item\n")
    memory.interrupt(monkeypatch, 1, memory=b"- item\n", dreams=b"- rest\n")
    memory.write(DREAMS, b"- mine\n")
    done = memory.make("next", rejected=b"no\n")
    assert len(done.notes) == 1
    assert "is not finished: DREAMS.md was changed since; all texts are kept in" in done.notes[0]
    assert (memory.read(MEMORY), memory.read(DREAMS)) == (b"- item\n", b"- mine\n")
    assert [change.state for change in memory.list_changes().changes] == ["done", "left"]
    assert [path.name for path in memory.root.iterdir() if path.name.startswith(".")] == []
    memory.undo()
    with pytest.raises(UnknownItem):
        memory.undo()


def test_an_interrupted_undo_is_finished_by_the_next(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.make("first", memory=b"- 1\n", rejected=b"no\n")
    memory.make("second", memory=b"- 2\n", rejected=b"no\nnever\n")
    memory.interrupt(monkeypatch, 1, memory=b"- 3\n", rejected=b"no\n")
    assert memory.undo().notes == ("review: it was interrupted, and is finished now",)
    with monkeypatch.context() as patched:
        patched.setattr(planned_files, "_put", refuse)
        with pytest.raises(KeyboardInterrupt):
            memory.undo()
    assert memory.undo().what == "undo of “second”"
    assert memory.read(MEMORY) == b"- 1\n"


def refuse(_write: planned_files.FileWrite, _temporary: Path) -> None:
    raise KeyboardInterrupt


def test_where_no_file_can_be_written_the_change_is_forgotten(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.write(DREAMS, b"- item\n")
    for n_written in (0, 1):
        with monkeypatch.context() as patched:
            fill_disk(patched, n_written)
            with pytest.raises(StorageError, match="No space left") as failed:
                memory.make(memory=b"- item\n", dreams=b"")
        assert ("The change is begun" in str(failed.value)) == bool(n_written)
        assert len(memory.list_changes().changes) == n_written
        assert memory.read(DREAMS) == b"- item\n"
    assert len(memory.recover()) == 1
    assert (memory.read(MEMORY), memory.read(DREAMS)) == (b"- item\n", b"")


def fill_disk(patched: pytest.MonkeyPatch, n_written: int) -> None:
    """Let the disk be full once some files have their names."""
    names: list[str] = []

    def full(source: Path, target: Path) -> None:
        if target.name in FILES:
            names.append(target.name)
        if len(names) > n_written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        source.replace(target)

    patched.setattr(atomic, "publish", full)
    patched.setattr(atomic, "rename_over", full)


def test_our_own_change_is_none_from_outside(memory: Memory) -> None:
    memory.write(MEMORY, b"- old\n")
    begin_memory(memory.root, memory.places)
    record_lines(
        dict.fromkeys(list_line_digests("- new\n"), "agent"), "", memory.root, memory.places
    )
    memory.make(memory=b"- new\n", superseded=b"- old\n")
    assert list_outside_changes(memory.root, memory.places) == ()
    memory.undo()
    assert list_outside_changes(memory.root, memory.places) == ()


def test_a_change_from_outside_is_not_accepted_along_with_ours(memory: Memory) -> None:
    memory.write(MEMORY, b"- old\n")
    begin_memory(memory.root, memory.places)
    memory.write(MEMORY, b"- old\n- from nowhere\n")
    record_lines(
        dict.fromkeys(list_line_digests("- new\n"), "agent"), "", memory.root, memory.places
    )
    memory.make(memory=b"- old\n- from nowhere\n- new\n")
    (change,) = list_outside_changes(memory.root, memory.places)
    assert change.added == ((2, "- from nowhere"),)


def test_a_damaged_record_is_told_and_passed_over(memory: Memory) -> None:
    memory.make("first", memory=b"- 1\n")
    memory.make("second", memory=b"- 2\n")
    path = record_path("0001", memory.root, memory.places)
    path.write_bytes(b"{")
    found = memory.list_changes()
    assert [change.what for change in found.changes] == ["second"]
    assert found.problems == (f"{path} is damaged",)
    memory.undo()
    assert memory.read(MEMORY) == b"- 1\n"


def test_a_record_of_a_newer_version_lets_no_change_begin(memory: Memory) -> None:
    memory.make(memory=b"- 1\n")
    record_path("0002", memory.root, memory.places).write_bytes(b'{"version": 99}')
    with pytest.raises(StorageError, match="newer version of Ullage"):
        memory.make(memory=b"- 2\n")
    assert memory.read(MEMORY) == b"- 1\n"


def test_the_newest_changes_are_kept(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_records, "MAX_CHANGES", 3)
    for number in range(6):
        memory.make(f"review {number}", rejected=b"%d\n" % number)
    kept = [change.change_id for change in memory.list_changes().changes]
    assert kept == ["0006", "0005", "0004"]


TOP = b"# DREAMS.md\n\n## Candidate Memory Items (Pending Review)\n\n"
ITEM_A, ITEM_B, ITEM_C = (b"### [2026-11-20 Daily Log]\n\nFinding: %c\n\n" % n for n in b"abc")


def test_what_was_taken_out_of_a_file_that_was_edited_since_comes_back_at_its_end(
    memory: Memory,
) -> None:
    memory.write(DREAMS, TOP + ITEM_A + ITEM_B + ITEM_C)
    memory.make("first", memory=b"- a\n", dreams=TOP + ITEM_B + ITEM_C)
    memory.make("second", rejected=b"b\n", dreams=TOP + ITEM_C)
    edited = TOP + ITEM_C.replace(b"g: c", b"g: see")
    memory.write(DREAMS, edited)
    note = "DREAMS.md was changed since: what was taken out of it stands at its end again"
    assert memory.undo().notes == (note,)
    assert memory.read(DREAMS) == edited + ITEM_B[:-1]
    assert memory.read(REJECTED) is None
    assert memory.undo().notes == (note,)
    assert memory.read(DREAMS) == edited + ITEM_B + ITEM_A[:-1]
    assert memory.read(MEMORY) is None
    assert [change.notes for change in memory.list_changes().changes[:2]] == [(note,), (note,)]


def test_items_come_back_below_their_heading_with_the_line_ends_of_the_file(
    memory: Memory,
) -> None:
    memory.write(DREAMS, TOP + ITEM_A)
    memory.make(dreams=TOP)
    memory.write(DREAMS, b"\xef\xbb\xbf## Notes\r\n\r\nmine")
    memory.undo()
    back = b"## Candidate Memory Items (Pending Review)\n\n" + ITEM_A[:-1]
    assert memory.read(DREAMS) == b"\xef\xbb\xbf## Notes\r\n\r\nmine\r\n\r\n" + back.replace(
        b"\n", b"\r\n"
    )


def test_items_of_a_file_that_was_removed_or_put_back_since_stand_there_once(
    memory: Memory,
) -> None:
    memory.write(DREAMS, TOP + ITEM_A + ITEM_B)
    memory.make(dreams=TOP + ITEM_B)
    memory.path(DREAMS).unlink()
    assert len(memory.undo().notes) == 1
    assert memory.read(DREAMS) == TOP.partition(b"\n\n")[2] + ITEM_A[:-1]
    memory.write(DREAMS, TOP + ITEM_A + ITEM_B)
    memory.make(memory=b"- a\n", dreams=TOP + ITEM_B)
    memory.write(DREAMS, TOP + ITEM_A + ITEM_C)
    assert memory.undo().notes == ()
    assert (memory.read(DREAMS), memory.read(MEMORY)) == (TOP + ITEM_A + ITEM_C, None)


@pytest.mark.parametrize("data", ["größer\n".encode("latin-1"), "mine\n".encode("utf-16")])
def test_nothing_is_added_to_what_is_no_text(memory: Memory, data: bytes) -> None:
    memory.write(DREAMS, TOP + ITEM_A)
    memory.make(memory=b"- a\n", dreams=TOP)
    memory.write(DREAMS, data)
    with pytest.raises(LogRefused, match="no UTF-8 text"):
        memory.undo()
    assert (memory.read(DREAMS), memory.read(MEMORY)) == (data, b"- a\n")


@pytest.mark.parametrize("n_written", [0, 1])
def test_an_interrupted_undo_puts_back_once(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, n_written: int
) -> None:
    memory.write(DREAMS, TOP + ITEM_A)
    memory.make(dreams=TOP, rejected=b"a\n")
    edited = TOP.replace(b"# DREAMS.md", b"# mine")
    memory.write(DREAMS, edited)
    put = planned_files._put

    def kill(write: planned_files.FileWrite, temporary: Path) -> None:
        if n_written:
            put(write, temporary)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(planned_files, "_put", kill)
        with pytest.raises(KeyboardInterrupt):
            memory.undo()
    notes = memory.undo().notes
    assert [note.partition(":")[0] for note in notes] == [
        "DREAMS.md was changed since", "undo of “review”",
    ]  # fmt: skip
    assert memory.read(DREAMS) == edited + ITEM_A[:-1]
    with pytest.raises(UnknownItem):
        memory.undo()


CONTENT = st.none() | st.lists(st.sampled_from(["a", "b", "é"]), max_size=3).map(
    lambda lines: "".join(f"- {line}\n" for line in lines).encode()
)
STEP = st.one_of(
    st.tuples(st.just("make"), CONTENT, CONTENT), st.just(("append",)), st.just(("undo",))
)


@given(first=st.tuples(CONTENT, CONTENT), steps=st.lists(STEP, max_size=8))
def test_all_undone_the_first_bytes_stand_before_what_was_added(
    tmp_path_factory: pytest.TempPathFactory,
    first: tuple[bytes | None, bytes | None],
    steps: list[tuple],
) -> None:
    root = tmp_path_factory.mktemp("ws").resolve()
    memory = Memory(root, Places(cwd=root, home=root, env={}, state_folder=root / "state"))
    for name, data in zip((MEMORY, DREAMS), first, strict=True):
        if data is not None:
            memory.write(name, data)
    added = b""
    n_made = 0
    for number, step in enumerate(steps):
        if step[0] == "make":
            # A file that was removed by a change and made anew by others is another one.
            dreams = (step[2] or b"") if memory.read(DREAMS) is not None else step[2]
            memory.make(memory=step[1], dreams=dreams)
            n_made += 1
        elif step[0] == "append" and memory.read(DREAMS) is not None:
            line = b"- added %d\n" % number
            memory.write(DREAMS, (memory.read(DREAMS) or b"") + line)
            added += line
        elif step[0] == "undo" and n_made:
            memory.undo()
            n_made -= 1
    for _ in range(n_made):
        memory.undo()
    assert memory.read(MEMORY) == first[0]
    assert memory.read(DREAMS) == ((first[1] or b"") + added if added else first[1])
    with pytest.raises(UnknownItem):
        memory.undo()
    assert not list(memory_folder(root, memory.places).rglob("*.tmp"))
    assert [path for path in root.iterdir() if path.suffix == ".tmp"] == []


KEPT = st.sets(st.integers(0, 4))
ITEM_STEP = st.one_of(
    st.tuples(st.just("make"), KEPT),
    st.tuples(st.sampled_from(["edit", "insert", "append", "undo"]), st.integers(0, 4)),
)


@example(steps=[("make", {0}), ("append", 0), ("make", set()), ("insert", 0)], line_end=b"\n")
@given(steps=st.lists(ITEM_STEP, max_size=10), line_end=st.sampled_from([b"\n", b"\r\n"]))
def test_whatever_is_edited_between_each_item_stands_once_when_all_is_undone(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple], line_end: bytes
) -> None:
    root = tmp_path_factory.mktemp("ws").resolve()
    memory = Memory(root, Places(cwd=root, home=root, env={}, state_folder=root / "state"))
    titles = ["Daily Log", "Session Replay"]
    texts = {n: f"item {n}" for n in range(5)}
    waiting = [
        propose_item("fact", text, day="2026-11-20", title=titles[n % 2], source="s")
        for n, text in texts.items()
    ]
    inbox = "# DREAMS.md\n"
    for item in waiting:
        inbox += "\n" + format_item(item, inbox)
    memory.write(DREAMS, inbox.encode().replace(b"\n", line_end))
    n_made, lines = 0, []
    for number, (step, value) in enumerate(steps):
        now = (memory.read(DREAMS) or b"").decode().replace("\r\n", "\n")
        if step == "make":
            gone = [item.item_id for item in read_items(now) if int(item.finding[5]) not in value]
            after = cut_items(now, frozenset(gone)).encode().replace(b"\n", line_end)
            memory.make(memory=b"- %d\n" % number, dreams=after)
            n_made += 1
        elif step == "undo" and n_made:
            memory.undo()
            n_made -= 1
        elif step in ("edit", "insert", "append"):
            line = f"- mine {number}"
            if step == "edit":
                is_there = f"item {value}" in now
                texts[value] += f" edited{number}" if is_there else ""
                now = now.replace(f"item {value}", f"item {value} edited{number}", 1)
                now = re.sub(rf"(item {value})( edited{number})(.*)", r"\1\3\2", now)
            else:
                now = f"{line}\n{now}" if step == "insert" else f"{now}{line}\n"
                lines.append(line)
            memory.write(DREAMS, now.encode().replace(b"\n", line_end))
    for _ in range(n_made):
        memory.undo()
    assert memory.read(MEMORY) is None
    data = memory.read(DREAMS) or b""
    assert data.count(b"\n") == data.count(line_end)
    text = data.decode().replace("\r\n", "\n")
    assert sorted(item.finding for item in read_items(text)) == sorted(texts.values())
    assert sorted(line for line in text.split("\n") if line.startswith("- mine")) == sorted(lines)
