"""A workspace's memory, opened: each search finds the files as they are, whatever happens."""

import os
import shutil
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from datetime import date
from pathlib import Path

import pytest

from running import WAIT_S, Place
from ullage.app.memory import open_memory as module
from ullage.app.memory.open_memories import open_memory
from ullage.app.memory.open_memory import BEHIND, BUSY, IN_PART, REBUILT, OpenMemory
from ullage.app.memory.search import EMPTY, search_memory
from ullage.core.config.memory_settings import EmbeddingSettings, MemorySettings
from ullage.core.config.settings import Config
from ullage.core.memory.answer import MemoryAnswer
from ullage.errors import Refused
from ullage.store.memory import index_file, pages
from ullage.store.memory.places import memory_folder

MEMORY = "# Decisions\n\n- Ledgers are kept in PostgreSQL.\n"
QUEUE = "- The queue of invoices is RabbitMQ.\n"
LEDGERS, INVOICES = "where are ledgers kept", "which queue has the invoices"


@pytest.fixture
def workspace(place: Place) -> Path:
    place.write("MEMORY.md", MEMORY.encode())
    place.write("memory/ports.md", b"# Ports\n\n- Redis listens on 6380.\n")
    place.write("docs/guide/page.md", b"# Page\n\nThe parcel is signed by Ed25519.\n")
    return place.cwd


@pytest.fixture(autouse=True)
def only_notices_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test pass because everything is looked at now and then."""
    monkeypatch.setattr(module, "LOOK_ANYWAY_S", 1e9)


@pytest.fixture
def written_long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no file be read again for having been written a moment ago."""
    monkeypatch.setattr(pages, "UNSETTLED_NS", 0)


@contextmanager
def opened(
    place: Place, *, is_watching: bool = False, is_read_only: bool = False
) -> Generator[OpenMemory]:
    places = place.places().for_reading(is_read_only=is_read_only)
    memory = OpenMemory(place.cwd, places, EmbeddingSettings(), is_watching=is_watching)
    with closing(memory):
        yield memory


def ask(memory: OpenMemory, query: str) -> MemoryAnswer:
    return search_memory(memory, query, by=None, today=date(2026, 11, 23))


def places_of(answer: MemoryAnswer) -> list[str]:
    return [f"{hit.path}:{hit.first_line}" for hit in answer.results]


def soon(look: Callable[[], bool]) -> None:
    """Wait for what the system tells of a change."""
    end = time.monotonic() + WAIT_S
    while not look():
        assert time.monotonic() < end


def add_file(root: Path) -> None:
    (root / "memory" / "queue.md").write_text(QUEUE, "utf-8")


def add_folder(root: Path) -> None:
    (root / "memory" / "deep" / "er").mkdir(parents=True)
    (root / "memory" / "deep" / "er" / "queue.md").write_text(QUEUE, "utf-8")


def bring_folder(root: Path) -> None:
    (root.parent / "new").mkdir()
    (root.parent / "new" / "queue.md").write_text(QUEUE, "utf-8")
    (root.parent / "new").rename(root / "docs" / "new")


def replace_memory(root: Path) -> None:
    (root / "MEMORY.tmp").write_text(QUEUE, "utf-8")
    (root / "MEMORY.tmp").replace(root / "MEMORY.md")


def write_into(root: Path) -> None:
    with (root / "docs" / "guide" / "page.md").open("a", encoding="utf-8") as file:
        file.write(f"\n{QUEUE}")


def let_in(root: Path) -> None:
    (root / ".gitignore").unlink()


@pytest.mark.parametrize("is_watching", [False, True], ids=["looking", "watching"])
@pytest.mark.parametrize(
    ("change", "place_of_it"),
    [
        (add_file, "memory/queue.md:1"),
        (add_folder, "memory/deep/er/queue.md:1"),
        (bring_folder, "docs/new/queue.md:1"),
        (replace_memory, "MEMORY.md:1"),
        (write_into, "docs/guide/page.md:5"),
        (let_in, "hidden/queue.md:1"),
    ],
)
def test_what_comes_is_found(
    place: Place,
    workspace: Path,
    change: Callable[[Path], None],
    place_of_it: str,
    *,
    is_watching: bool,
) -> None:
    place.write(".gitignore", b"hidden/\n")
    place.write("hidden/queue.md", QUEUE.encode())
    with opened(place, is_watching=is_watching) as memory:
        for _ in range(3):  # then only notices make it look
            assert ask(memory, INVOICES).results == ()
        change(workspace)
        if not is_watching:
            assert places_of(ask(memory, INVOICES))[:1] == [place_of_it]
        soon(lambda: places_of(ask(memory, INVOICES))[:1] == [place_of_it])


@pytest.mark.parametrize("is_watching", [False, True], ids=["looking", "watching"])
def test_what_goes_is_found_no_more(place: Place, workspace: Path, *, is_watching: bool) -> None:
    parcel = "by what is the parcel signed"
    with opened(place, is_watching=is_watching) as memory:
        assert places_of(ask(memory, parcel)) == ["docs/guide/page.md:3"]
        (workspace / "docs" / "guide").rename(workspace / "docs" / "book")
        soon(lambda: places_of(ask(memory, parcel)) == ["docs/book/page.md:3"])
        (workspace / "MEMORY.md").unlink()
        soon(lambda: ask(memory, LEDGERS).results == ())
        shutil.rmtree(workspace / "docs")
        shutil.rmtree(workspace / "memory")
        soon(lambda: ask(memory, parcel).note == EMPTY)


def test_memory_files_are_found_changed_without_waiting_for_a_notice(
    place: Place, workspace: Path
) -> None:
    place.write("memory/2026-11-20.md", b"- Nothing yet.\n")
    with opened(place, is_watching=True) as memory:
        for n in range(20):
            name = ("MEMORY.md", "memory/2026-11-20.md", f"memory/new{n}.md")[n % 3]
            (workspace / name).write_text(f"- The number of this turn is zebra{n}.\n", "utf-8")
            assert places_of(ask(memory, f"zebra{n}")) == [f"{name}:1"]


@pytest.mark.parametrize("is_watching", [False, True], ids=["looking", "watching"])
def test_changes_of_one_size_one_after_the_other_are_all_found(
    place: Place, workspace: Path, *, is_watching: bool
) -> None:
    with opened(place, is_watching=is_watching) as memory:
        for n in range(10, 40):
            (workspace / "MEMORY.md").write_text(f"- The word is zebra{n}.\n", "utf-8")
            assert places_of(ask(memory, f"zebra{n}")) == ["MEMORY.md:1"]


@pytest.mark.skipif(sys.platform == "win32", reason="of POSIX alone")
def test_what_may_not_be_read_any_more_is_not_answered_from_the_index(
    place: Place, workspace: Path
) -> None:
    with opened(place) as memory:
        assert ask(memory, LEDGERS).results
        (workspace / "MEMORY.md").chmod(0)
        if os.access(workspace / "MEMORY.md", os.R_OK):
            pytest.skip("this user may read everything")
        assert ask(memory, LEDGERS).results == ()
        (workspace / "MEMORY.md").chmod(0o600)
        assert ask(memory, LEDGERS).results


def test_an_open_memory_goes_on_where_the_last_one_ended(place: Place, workspace: Path) -> None:
    with opened(place) as memory:
        assert ask(memory, LEDGERS).results
    add_file(workspace)
    with opened(place) as memory:
        assert ask(memory, INVOICES).results
        assert ask(memory, LEDGERS).note is None


def test_closing_leaves_no_thread(place: Place, workspace: Path) -> None:
    before = threading.active_count()
    with opened(place, is_watching=True) as memory:
        ask(memory, LEDGERS)
        assert threading.active_count() > before
    assert threading.active_count() == before


def test_nothing_is_kept_where_nothing_may_be_written(place: Place, workspace: Path) -> None:
    before = place.files()
    with opened(place, is_read_only=True) as memory:
        assert places_of(ask(memory, LEDGERS)) == ["MEMORY.md:3"]
        add_file(workspace)
        assert places_of(ask(memory, INVOICES)) == ["memory/queue.md:1"]
        memory.rebuild()
        assert ask(memory, LEDGERS).results
    (workspace / "memory" / "queue.md").unlink()
    assert place.files() == before


def index_of(place: Place) -> Path:
    return memory_folder(place.cwd, place.places()) / "index.db"


def zero_a_page(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(bytes(4096))


def change_a_text(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE chunk SET text = 'Ledgers are kept in a drawer.'")


def drop_a_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TABLE file")


@pytest.mark.usefixtures("written_long_ago")
@pytest.mark.parametrize("is_watching", [False, True], ids=["looking", "watching"])
@pytest.mark.parametrize("damage", [change_a_text, drop_a_table])
def test_an_index_that_is_damaged_in_use_is_built_again_and_that_is_said_once(
    place: Place,
    workspace: Path,
    damage: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_watching: bool,
) -> None:
    monkeypatch.setattr(pages, "UNSETTLED_NS", 0)
    with opened(place, is_watching=is_watching) as memory:
        whole = ask(memory, LEDGERS)
        assert (len(whole.results), whole.note) == (1, None)
        damage(index_of(place))
        add_file(workspace)
        after = ask(memory, LEDGERS)
        assert (after.results, after.note) == (whole.results, REBUILT)
        assert ask(memory, LEDGERS) == whole
        assert places_of(ask(memory, INVOICES)) == ["memory/queue.md:1"]


@pytest.mark.usefixtures("written_long_ago")
@pytest.mark.parametrize("damage", [zero_a_page, change_a_text, drop_a_table])
def test_an_index_that_was_damaged_is_built_again_and_that_is_said_once(
    place: Place,
    workspace: Path,
    damage: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pages, "UNSETTLED_NS", 0)
    with opened(place) as memory:
        whole = ask(memory, LEDGERS)
    damage(index_of(place))
    with opened(place) as memory:
        # Who does not listen takes the news from nobody.
        memory.read(lambda index: index.list_files())
        answers = [ask(memory, LEDGERS) for _ in range(3)]
    assert [answer.results for answer in answers] == [whole.results] * 3
    assert [answer.note for answer in answers] == [REBUILT, None, None]


def test_many_changes_are_taken_in_beside_and_searches_go_on(
    place: Place, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MANY_FILES", 3)
    with opened(place, is_watching=True) as memory:
        assert ask(memory, LEDGERS).note is None
        for n in range(9):
            place.write(f"docs/page{n}.md", QUEUE.encode())
        monkeypatch.setattr(module, "LOOK_ANYWAY_S", 0.0)
        answer = ask(memory, LEDGERS)
        assert (places_of(answer), answer.note) == (["MEMORY.md:3"], BEHIND)
        soon(lambda: len(ask(memory, INVOICES).results) > 0)
        soon(lambda: ask(memory, LEDGERS).note is None)


def test_damage_that_is_met_beside_is_mended_as_well(
    place: Place, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MANY_FILES", 3)
    with opened(place, is_watching=True) as memory:
        assert ask(memory, LEDGERS).note is None
        with closing(sqlite3.connect(index_of(place))) as connection, connection:
            connection.execute("CREATE TRIGGER t BEFORE INSERT ON chunk BEGIN SELECT gone(); END")
        for n in range(9):
            place.write(f"docs/page{n}.md", QUEUE.encode())
        monkeypatch.setattr(module, "LOOK_ANYWAY_S", 0.0)
        notes: list[str | None] = []
        soon(lambda: notes.append(ask(memory, INVOICES).note) or notes[-1] is None)
        assert sum(note is not None and REBUILT in note for note in notes) == 1
        assert ask(memory, INVOICES).results


def test_while_another_writes_the_answer_is_of_before_and_says_so(
    place: Place, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_file, "WAIT_S", 0)
    with opened(place) as memory:
        assert ask(memory, LEDGERS).note is None
        add_file(workspace)
        with closing(sqlite3.connect(index_of(place))) as writing:
            writing.execute("BEGIN IMMEDIATE")
            answer = ask(memory, LEDGERS)
            assert (places_of(answer), answer.note) == (["MEMORY.md:3"], BUSY)
            assert BUSY in (ask(memory, INVOICES).note or "")
        assert places_of(ask(memory, INVOICES)) == ["memory/queue.md:1"]


def test_a_part_that_is_left_out_is_told(
    place: Place, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MAX_FILES", 2)
    with opened(place) as memory:
        assert IN_PART in (ask(memory, LEDGERS).note or "")


def test_processes_that_search_at_once_all_find_it(place: Place, workspace: Path) -> None:
    for n in range(60):
        place.write(f"docs/page{n}.md", f"# Page {n}\n\nCats sleep on stone {n}.\n".encode())
    started = [place.start("memory", "search", LEDGERS) for _ in range(4)]
    try:
        ended = [process.communicate(timeout=WAIT_S) for process in started]
    finally:
        for process in started:
            process.kill()
    for out, err in ended:
        assert (out.decode()[:12], err) == ("MEMORY.md:3 ", b"")


def test_memory_that_is_switched_off_is_not_opened(place: Place, workspace: Path) -> None:
    off = Config(memory=MemorySettings(is_enabled=False))
    before = place.files()
    with pytest.raises(Refused, match="memory"):
        open_memory(workspace, off, place.places())
    assert place.files() == before
