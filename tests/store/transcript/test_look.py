"""A look for transcripts: the cost of what changed, and the answer of a look at everything."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Thread

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles import examples
from ullage.errors import Unreadable
from ullage.store.files.places import Places
from ullage.store.transcript import known_folders
from ullage.store.transcript.look import TranscriptFolder, find_transcripts

OURS = frozenset({"ours"})
OWNERS = ("ours", "theirs", "third")


class Home:
    """A tree of transcripts, each of which begins with a line that names its owner."""

    def __init__(self, root: Path) -> None:
        self.root = root / "sessions"
        self.state = root / "state"
        self.elsewhere = root / "elsewhere"
        self.places = Places(cwd=root, home=root, env={}, state_folder=self.state)
        self.read: list[str] = []
        self._n_seconds = 0
        for folder in (self.root, self.elsewhere):
            folder.mkdir()

    def write(self, name: str, data: str = "ours\n") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode())
        return path

    def look(self, places: Places | None = None, *, is_nested: bool = True) -> dict[str, int]:
        folder = TranscriptFolder(path=self.root, is_nested=is_nested)
        found = find_transcripts((folder,), OURS, self._read_owner, places or self.places)
        names = {file.path.relative_to(self.root).as_posix(): file.mtime_ns for file in found}
        assert len(names) == len(found)
        return names

    def look_anew(self) -> dict[str, int]:
        with tempfile.TemporaryDirectory() as folder:
            return self.look(msgspec.structs.replace(self.places, state_folder=Path(folder)))

    def names(self) -> list[str]:
        return sorted(self.look())

    def age(self) -> None:
        """Let folders that changed be of another time than before, and long ago."""
        for folder, _, _ in os.walk(self.root):
            if Path(folder).stat().st_mtime > time.time() - 1e6:
                self._n_seconds += 1
                os.utime(folder, (1e9 + self._n_seconds,) * 2)

    def _read_owner(self, path: Path) -> str:
        self.read.append(path.name)
        try:
            data = path.read_bytes().decode()
        except OSError as error:
            raise Unreadable("not now") from error
        line, ending, _ = data.partition("\n")
        return line if ending else ""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    yield Home(tmp_path)
    forget()


def forget() -> None:
    """Be another process: nothing is in memory."""
    for connection in known_folders._in_memory.values():
        connection.close()
    known_folders._in_memory.clear()
    known_folders._given_up.clear()


def read_by(home: Home, look: Callable[[], object]) -> list[str]:
    home.read.clear()
    look()
    return sorted(home.read)


def fill(home: Home) -> None:
    home.write("2026/11/01/a.jsonl", "ours\n")
    home.write("2026/11/01/b.jsonl", "theirs\n")
    home.write("2026/11/02/c.jsonl", "ours\n")
    home.write("2026/11/02/d.jsonl", "theirs\n")
    home.age()
    home.look()


def test_a_second_look_reads_no_header(home: Home) -> None:
    fill(home)
    assert read_by(home, home.look) == []
    forget()
    assert read_by(home, home.look) == []
    assert home.names() == ["2026/11/01/a.jsonl", "2026/11/02/c.jsonl"]


def test_a_new_file_costs_one_header_and_an_appended_line_none(home: Home) -> None:
    fill(home)
    home.write("2026/11/02/e.jsonl", "theirs\n")
    assert read_by(home, home.look) == ["e.jsonl"]
    home.age()
    home.look()
    for name in "ac":
        (path,) = home.root.rglob(f"{name}.jsonl")
        with path.open("a") as file:
            file.write("more\n")
    assert read_by(home, home.look) == []
    assert home.look() == home.look_anew()


def test_nothing_is_written_where_nothing_changed(home: Home) -> None:
    fill(home)
    (file,) = (home.state / "index").iterdir()
    before = file.read_bytes(), file.stat().st_mtime_ns
    home.look()
    home.write("2026/11/01/a.jsonl", "ours\nmore\n")
    home.look()
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


def test_a_first_line_that_was_torn_counts_once_it_is_whole(home: Home) -> None:
    path = home.write("a.jsonl", "ou")
    home.age()
    assert home.names() == []
    assert read_by(home, home.look) == []
    with path.open("a") as file:
        file.write("rs\n")
    assert home.names() == ["a.jsonl"]
    assert read_by(home, home.look) == []


def test_a_file_of_the_same_name_is_read_anew_whatever_its_inode(home: Home) -> None:
    path = home.write("a.jsonl", "theirs\n")
    home.age()
    assert home.names() == []
    path.unlink()
    home.write("a.jsonl", "ours\n")
    assert home.names() == ["a.jsonl"]


def test_a_young_folder_is_listed_again(home: Home) -> None:
    home.write("a.jsonl")

    def stamps() -> set[str]:
        with known_folders.open_known_folders(home.places) as known:
            return {folder.stamp for folder in known.list_folders().values()}

    home.look()
    assert stamps() == {""}
    home.age()
    home.look()
    assert "" not in stamps()


def test_a_packed_transcript_counts_until_it_is_unpacked(home: Home) -> None:
    home.write("a.jsonl.zst")
    home.age()
    assert home.names() == ["a.jsonl.zst"]
    home.write("a.jsonl")
    assert home.names() == ["a.jsonl"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_what_a_link_leads_to_may_change_at_any_time(home: Home) -> None:
    target = home.elsewhere / "target"
    target.write_text("theirs\n")
    home.write("b.jsonl")
    (home.root / "a.jsonl").symlink_to(target)
    home.age()
    assert home.names() == ["b.jsonl"]
    target.write_text("ours\n")
    assert home.names() == ["a.jsonl", "b.jsonl"]
    (file,) = (home.state / "index").iterdir()
    before = file.stat().st_mtime_ns
    home.look()
    assert file.stat().st_mtime_ns == before


@pytest.mark.skipif(sys.platform == "win32", reason="a file's mode means nothing there")
@pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() == 0, reason="root reads everything")
def test_what_could_not_be_read_is_tried_again(home: Home) -> None:
    path = home.write("a.jsonl")
    path.chmod(0)
    home.age()
    assert home.names() == []
    path.chmod(0o600)
    assert home.names() == ["a.jsonl"]


def test_what_is_gone_is_forgotten(home: Home) -> None:
    fill(home)
    shutil.rmtree(home.root / "2026" / "11" / "01")
    home.names()
    with closing(sqlite3.connect(home.state / "index" / "folders.sqlite")) as connection:
        rows = connection.execute("SELECT name FROM file ORDER BY name").fetchall()
        paths = [os.fsdecode(path) for (path,) in connection.execute("SELECT path FROM folder")]
    assert rows == [(b"c.jsonl",), (b"d.jsonl",)]
    assert not [path for path in paths if path.endswith("01")]


@pytest.mark.skipif(sys.platform == "win32", reason="a file's mode means nothing there")
def test_what_is_known_is_its_users_alone(home: Home) -> None:
    fill(home)
    (file,) = (home.state / "index").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_where_nothing_may_be_kept_what_is_kept_is_used(home: Home) -> None:
    fill(home)
    places = home.places.for_reading(is_read_only=True)
    home.write("2026/11/03/e.jsonl")
    before = {path: path.read_bytes() for path in home.state.rglob("*.sqlite")}
    assert read_by(home, lambda: home.look(places)) == ["e.jsonl"]
    home.age()
    home.look(places)
    assert read_by(home, lambda: home.look(places)) == []
    assert {path: path.read_bytes() for path in home.state.rglob("*") if path.is_file()} == before


def run_on(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def change_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"no database, but longer than its header " * 9),
        lambda path: path.write_bytes(path.read_bytes()[:5000] + b"\xff" * 3000),
        lambda path: path.write_bytes(b""),
        change_version,
        *(
            partial(run_on, statement=f"UPDATE {change}")
            for change in (
                "file SET stamp = CAST(x'ff' AS TEXT)",
                "file SET name = 7 WHERE name = CAST('a.jsonl' AS BLOB)",
                "file SET name = x'00' WHERE name = CAST('a.jsonl' AS BLOB)",
                "folder SET path = id",
                "folder SET subfolders = 'a'",
                "folder SET stamp = x'00'",
            )
        ),
    ],
)
def test_what_is_damaged_is_learned_anew(home: Home, damage: Callable[[Path], object]) -> None:
    fill(home)
    (file,) = (home.state / "index").iterdir()
    damage(file)
    before = file.read_bytes()
    reading = home.places.for_reading(is_read_only=True)
    assert sorted(home.look(reading)) == ["2026/11/01/a.jsonl", "2026/11/02/c.jsonl"]
    assert file.read_bytes() == before
    forget()
    assert home.names() == ["2026/11/01/a.jsonl", "2026/11/02/c.jsonl"]
    forget()
    home.look()
    forget()
    assert read_by(home, home.look) == []


def test_where_the_state_folder_takes_nothing_a_look_works_and_the_next_costs_less(
    home: Home,
) -> None:
    home.state.write_text("a file")
    home.write("a.jsonl", "theirs\n")
    home.age()
    assert home.names() == []
    assert read_by(home, home.look) == []


def test_a_locked_file_delays_a_look_and_changes_no_answer(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(home)
    monkeypatch.setattr(known_folders, "BUSY_TIMEOUT_S", 0)
    home.write("2026/11/02/e.jsonl")
    with closing(sqlite3.connect(home.state / "index" / "folders.sqlite")) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        assert len(home.names()) == 3


def test_processes_that_begin_at_once_keep_what_each_learned(home: Home) -> None:
    home.write("a.jsonl")
    home.age()
    script = (
        "import sys; from pathlib import Path; from ullage.store.files.places import Places;"
        "from ullage.store.transcript.look import TranscriptFolder, find_transcripts;"
        "root = Path(sys.argv[1]); sys.stdin.read();"
        "places = Places(cwd=root, home=root, env={}, state_folder=root / 'state');"
        "folder = TranscriptFolder(path=root / 'sessions', is_nested=True);"
        "found = find_transcripts((folder,), {'ours'}, lambda path: 'ours', places);"
        "print([file.path.name for file in found])"
    )
    command = [sys.executable, "-c", script, str(home.root.parent)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    processes = [subprocess.Popen(command, **pipes) for _ in range(4)]
    for process in processes:
        process.stdin.close()
        process.stdin = None
    answers = {process.communicate()[0].strip() for process in processes}
    assert answers == {b"['a.jsonl']"}
    assert read_by(home, home.look) == []


def test_threads_that_look_at_once_read_each_header_once(home: Home) -> None:
    names = [f"2026/11/{day:02}/{day}.jsonl" for day in range(1, 9)]
    for name in names:
        home.write(name)
    home.age()
    threads = [Thread(target=home.look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(home.read) == sorted(Path(name).name for name in names)


FOLDERS = st.sampled_from(("", "2026", "2026/11", "2026/11/01", "2026/11/02", "other"))
NAMES = st.sampled_from(("a.jsonl", "b.jsonl", "b.jsonl.zst", "c.json", "note.txt"))
KINDS = "write torn complete grow replace delete rename move swap remove".split()
LINKS = [] if sys.platform == "win32" else ["link", "aim"]
STEPS = st.tuples(
    st.sampled_from(KINDS + LINKS),
    st.builds(lambda folder, name: f"{folder}/{name}".strip("/"), FOLDERS, NAMES),
    st.builds(lambda folder, name: f"{folder}/{name}".strip("/"), FOLDERS, NAMES),
    st.sampled_from(OWNERS),
    st.booleans(),
)


@settings(max_examples=examples(400))
@given(st.lists(STEPS, max_size=30))
def test_a_look_is_what_a_look_at_everything_is(
    steps: list[tuple[str, str, str, str, bool]],
) -> None:
    with tempfile.TemporaryDirectory() as root:
        home = Home(Path(root))
        try:
            for step, name, other, owner, ages in steps:
                do(home, step, name, other, owner)
                if ages:
                    home.age()
                assert home.look() == home.look_anew()
                assert home.look(is_nested=False) == {
                    name: at for name, at in home.look_anew().items() if "/" not in name
                }
        finally:
            forget()


def do(home: Home, step: str, name: str, other: str, owner: str) -> None:
    path, second = home.root / name, home.root / other
    match step:
        case "write" | "torn" if not path.is_dir() and not blocked(home, path):
            path.unlink(missing_ok=True)
            home.write(name, owner if step == "torn" else f"{owner}\n")
        case "complete" | "grow" if path.is_file():
            with path.open("a") as file:
                file.write("\n" if step == "complete" else "more\n")
        case "replace" if path.is_file():
            new = home.elsewhere / "new"
            new.write_text(f"{owner}\n")
            new.replace(path)
        case "delete" if path.exists() or path.is_symlink():
            path.unlink()
        case "rename" if path.exists() and second.parent.is_dir():
            path.replace(second)
        case "move" if path.parent != home.root and path.parent.is_dir():
            away = home.elsewhere / "away"
            path.parent.rename(away)
            target = second.parent / "moved"
            if target.parent.is_dir() and not target.exists():
                away.rename(target)
            else:
                shutil.rmtree(away)
        case "swap" if can_swap(home, path.parent, second.parent):
            away = home.elsewhere / "away"
            path.parent.rename(away)
            second.parent.rename(path.parent)
            away.rename(second.parent)
        case "remove" if path.parent != home.root:
            shutil.rmtree(path.parent, ignore_errors=True)
        case "link" if path.parent.is_dir() and not path.exists() and not path.is_symlink():
            path.symlink_to(home.elsewhere / "target")
        case "aim":
            (home.elsewhere / "target").write_text(f"{owner}\n")
        case _:
            pass


def can_swap(home: Home, first: Path, second: Path) -> bool:
    return (
        first.is_dir()
        and second.is_dir()
        and home.root not in (first, second)
        and not first.is_relative_to(second)
        and not second.is_relative_to(first)
    )


def blocked(home: Home, path: Path) -> bool:
    return any(parent.is_file() for parent in path.parents if parent.is_relative_to(home.root))
