"""What the system does not tell is looked at now and then."""

from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

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
