"""What the system does not tell is looked at now and then."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread

import pytest

from running import WAIT_S
from ullage.store.files import poll as poll_module
from ullage.store.files.poll import FilePoll


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[FilePoll, SimpleQueue[Path]]]:
    monkeypatch.setattr(poll_module, "POLL_S", 0.01)
    paths: SimpleQueue[Path] = SimpleQueue()
    poll = FilePoll(paths.put)
    yield poll, paths
    poll.stop()


def test_what_is_written_comes_and_goes_is_told(
    tmp_path: Path, told: tuple[FilePoll, SimpleQueue[Path]]
) -> None:
    poll, paths = told
    file = tmp_path / "s.jsonl"
    poll.watch([file])
    for change in (lambda: file.write_bytes(b"{}"), lambda: file.write_bytes(b"{}{}"), file.unlink):
        change()
        assert paths.get(timeout=WAIT_S) == file


def test_what_is_no_more_looked_at_is_not_told_and_costs_no_thread(
    tmp_path: Path, told: tuple[FilePoll, SimpleQueue[Path]]
) -> None:
    poll, paths = told
    old, new = tmp_path / "old", tmp_path / "new"
    poll.watch([old])
    poll.watch([])
    old.write_bytes(b"1")
    poll.watch([new])
    new.write_bytes(b"1")
    assert paths.get(timeout=WAIT_S) == new
    assert paths.empty()


class DeadDisk:
    """A disk that answers when it is let, from when it is dead."""

    def __init__(self) -> None:
        self.is_dead, self.is_asked, self.may_answer = Event(), Event(), Event()

    def file(self, path: Path) -> Path:
        disk = self

        class DeadFile(type(path)):
            def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
                if disk.is_dead.is_set():
                    disk.is_asked.set()
                    assert disk.may_answer.wait(2 * WAIT_S)
                return super().stat(follow_symlinks=follow_symlinks)

        return DeadFile(path)


def test_who_stops_waits_for_no_disk_and_is_told_nothing_more(
    tmp_path: Path, told: tuple[FilePoll, SimpleQueue[Path]]
) -> None:
    poll, paths = told
    disk, file = DeadDisk(), tmp_path / "s.jsonl"
    poll.watch([disk.file(file)])
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "file-poll")
    disk.is_dead.set()
    assert disk.is_asked.wait(WAIT_S)
    file.write_bytes(b"{}")
    poll.stop()
    disk.may_answer.set()
    thread.join()
    assert paths.empty()


def test_while_a_dead_disk_is_asked_what_is_on_others_is_told(
    tmp_path: Path, told: tuple[FilePoll, SimpleQueue[Path]]
) -> None:
    poll, paths = told
    disk, file = DeadDisk(), tmp_path / "s.jsonl"
    poll.watch([file])
    disk.is_dead.set()
    watching = Thread(target=poll.watch, args=([file, disk.file(tmp_path)],))
    watching.start()
    assert disk.is_asked.wait(WAIT_S)
    file.write_bytes(b"{}")
    assert paths.get(timeout=WAIT_S) == file
    disk.may_answer.set()
    watching.join()
