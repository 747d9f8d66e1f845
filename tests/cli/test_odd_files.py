"""Files that are not what their names promise, and disks that take nothing: one line, no harm."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pi_files import conversation
from running import Place

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes by name")
READERS = (("context", "status"), ("checkpoint", "list"), ("doctor",), ("memory", "status"))
WRITERS = (
    ("compact", "--yes"),
    ("prune", "--rescue", "--yes"),
    ("checkpoint", "write"),
    ("pin", "Always ask first."),
    ("autocompact", "off"),
    ("context", "branch"),
    ("memory", "flush", "--yes"),
)
NAMES = (
    ".ullage.yaml",
    ".env",
    "AGENTS.md",
    "MEMORY.md",
    "DREAMS.md",
    "memory",
    "../../home/.openclaw/openclaw.json",
    "../../home/.claude/settings.json",
    "../../state/context/checkpoints",
    "../../state/index",
)
"""What is read of a workspace, of its user, and of our own."""
IGNORED = "ullage: a setting is ignored; `ullage config check` says why\n"


@pytest.fixture
def session(place: Place) -> Path:
    data = conversation(40, chars=4000, usage=50_000, cwd=str(place.cwd)).data
    return place.write("s.jsonl", data)


def make_odd(path: Path, kind: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    remove(path)
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "loop":
            path.symlink_to(path)
        case "dangling":
            path.symlink_to(path.with_name("nowhere") / "at all")
        case "folder":
            path.mkdir()


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@pytest.mark.parametrize("kind", ["pipe", "loop", "dangling", "folder"])
def test_what_is_no_file_holds_up_nothing(place: Place, session: Path, kind: str) -> None:
    for name in NAMES:
        path = place.cwd / name
        make_odd(path, kind)
        for args in (*READERS, *WRITERS):
            done = place.run(*args, "--session", session) if takes(args) else place.run(*args)
            assert done.returncode in (0, 3, 4, 5), (name, args, done.stderr)
            told = done.stderr.replace(IGNORED, "")
            assert told.count("\n") <= 1, (name, args, told)
        remove(path)


def test_a_state_folder_that_cannot_be_looked_at_is_one_line(place: Place, session: Path) -> None:
    """Its name is too long, which is as a folder above it that is closed to the user."""
    state = str(place.root / ("x" * 300))
    for args in (*READERS, *WRITERS):
        told = ("--session", session) if takes(args) else ()
        done = place.run(*args, *told, ULLAGE_STATE_DIR=state)
        assert done.returncode in (0, 4, 5), (args, done.stderr)
        assert done.stderr.count("\n") == (done.returncode != 0), (args, done.stderr)


def takes(args: tuple[str, ...]) -> bool:
    """Whether a command is told a session."""
    return args != ("memory", "status")


@pytest.fixture
def disk(place: Place) -> Iterator[Path]:
    """A disk of a few pages in the place of all folders, which only root may attach."""
    size = "size=4m"
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", size, "none", place.root], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("only root may attach a disk")
    for folder in (place.home, place.cwd, place.temporary):
        folder.mkdir(parents=True)
    yield place.root
    subprocess.run(["umount", place.root], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux attaches a disk in memory")
@pytest.mark.parametrize("is_full", [False, True], ids=["read-only", "full"])
def test_a_disk_that_takes_nothing_is_one_line(place: Place, disk: Path, *, is_full: bool) -> None:
    data = conversation(40, chars=4000, usage=50_000, cwd=str(place.cwd)).data
    session = place.write("s.jsonl", data)
    assert place.run("checkpoint", "write", "--session", session).returncode == 0
    if is_full:
        fill(disk / "filling")
    else:
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    before = place.files()
    for args in WRITERS:
        done = place.run(*args, "--session", session)
        assert done.returncode in (0, 4, 5), (args, done.stderr)
        assert done.stderr.count("\n") == (done.returncode != 0), (args, done.stderr)
        assert is_full or done.returncode in (4, 5), args
    for args in READERS:
        done = place.run(*args, "--session", session) if takes(args) else place.run(*args)
        assert done.returncode == 0, (args, done.stderr)
    assert session.read_bytes() == data
    assert not is_full or set(before) <= set(place.files())
    assert is_full or place.files() == before


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            return
