"""The memories that a process keeps open: few, each by the configuration as it is."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from watchdog.observers.api import BaseObserver

from ullage.app.memory.open_memories import MAX_OPEN, OpenMemories
from ullage.app.memory.open_memory import OpenMemory
from ullage.store.files.places import Places


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenMemories]:
    places = Places(cwd=tmp_path, home=tmp_path, env={}, state_folder=tmp_path / "state")
    memories = OpenMemories(places)
    yield memories
    memories.close()


def use(opened: OpenMemories, workspace: Path) -> OpenMemory:
    workspace.mkdir(exist_ok=True)
    with opened.use(workspace) as (memory, _):
        return memory


def count_open() -> int:
    """Count by what watches folders: each open memory has one, until it is closed."""
    return sum(isinstance(thread, BaseObserver) for thread in threading.enumerate())


def test_the_memory_that_was_not_used_for_longest_is_closed(
    opened: OpenMemories, tmp_path: Path
) -> None:
    before = count_open()
    first, second = (use(opened, tmp_path / name) for name in ("first", "second"))
    for n in range(MAX_OPEN - 2):
        use(opened, tmp_path / f"other{n}")
    assert use(opened, tmp_path / "first") is first
    use(opened, tmp_path / "one more")
    assert use(opened, tmp_path / "first") is first
    assert count_open() - before == MAX_OPEN
    assert use(opened, tmp_path / "second") is not second


def test_a_changed_configuration_opens_anew(opened: OpenMemories, tmp_path: Path) -> None:
    memory = use(opened, tmp_path / "work")
    before = count_open()
    (tmp_path / "work" / ".ullage.yaml").write_text("memory:\n  store: log\n", "utf-8")
    assert use(opened, tmp_path / "work") is not memory
    assert count_open() == before


def test_all_are_closed_at_the_end(opened: OpenMemories, tmp_path: Path) -> None:
    before = count_open()
    for name in ("first", "second"):
        use(opened, tmp_path / name)
    assert count_open() == before + 2
    opened.close()
    assert count_open() == before
