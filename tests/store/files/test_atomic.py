"""Files of ours: old or new, never a part, for the user alone, and nothing left beside them."""

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from ullage.errors import StateUnwritable
from ullage.store.files.atomic import (
    make_folder,
    make_private_file,
    replace_file,
    write_all,
    write_new_file,
)
from ullage.store.files.places import state_folder

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_is_written_whole_below_new_folders(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file"
    replace_file(path, b"data")
    assert path.read_bytes() == b"data"
    assert names_in(path.parent) == ["file"]


@pytest.mark.parametrize("data", [b"", b"\0\xff\n\r\n", b"x" * 3_000_000], ids=len)
def test_an_old_file_is_replaced_byte_for_byte(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old and longer than some")
    replace_file(path, data)
    assert path.read_bytes() == data
    assert names_in(tmp_path) == ["file"]


@posix_only
def test_files_are_for_the_user_alone_whatever_the_mask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        replace_file(tmp_path / "folder" / "file", b"data")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "folder" / "file").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o700


def test_a_failed_rename_leaves_the_old_thing_and_no_temporary(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "inside").write_bytes(b"kept")
    with pytest.raises(StateUnwritable, match="ULLAGE_STATE_DIR"):
        replace_file(tmp_path / "taken", b"data")
    assert names_in(tmp_path) == ["taken"]
    assert (tmp_path / "taken" / "inside").read_bytes() == b"kept"


def test_a_disk_that_takes_a_part_only_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    real_write = os.write

    def write_then_fail(fd: int, data: bytes) -> int:
        if len(data) < 6:
            raise OSError(28, "No space left on device")
        return real_write(fd, data[:2])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write_then_fail)
        with pytest.raises(StateUnwritable, match="No space left on device"):
            replace_file(path, b"new data")
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["file"]


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda fd, data: real_write(fd, data[:3]))
        replace_file(tmp_path / "file", b"0123456789")
    assert (tmp_path / "file").read_bytes() == b"0123456789"


def test_all_bytes_reach_a_pipe() -> None:
    data = b"x" * 300_000
    end, start = os.pipe()
    received: list[bytes] = []

    def read() -> None:
        with os.fdopen(end, "rb") as file:
            received.append(file.read())

    reader = threading.Thread(target=read)
    reader.start()
    write_all(start, data)
    os.close(start)
    reader.join()
    assert received == [data]


@pytest.mark.parametrize("inside", ["file", "folder/file"])
def test_a_folder_that_is_a_file_is_unwritable(tmp_path: Path, inside: str) -> None:
    (tmp_path / "blocked").write_bytes(b"kept")
    with pytest.raises(StateUnwritable):
        replace_file(tmp_path / "blocked" / inside, b"data")
    assert (tmp_path / "blocked").read_bytes() == b"kept"


@posix_only
@pytest.mark.skipif(sys.platform != "win32" and os.geteuid() == 0, reason="root may write")
def test_a_folder_without_permission_is_unwritable(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StateUnwritable):
        replace_file(tmp_path / "file", b"data")
    tmp_path.chmod(0o700)
    assert names_in(tmp_path) == []


@posix_only
def test_a_link_is_replaced_and_its_target_left_alone(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"foreign")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    replace_file(tmp_path / "link", b"data")
    assert (tmp_path / "target").read_bytes() == b"foreign"
    assert (tmp_path / "link").read_bytes() == b"data"
    assert not (tmp_path / "link").is_symlink()


def test_a_file_that_exists_is_never_opened_as_new(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(FileExistsError):
        write_new_file(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"


def test_a_reader_sees_the_old_bytes_or_the_new(tmp_path: Path) -> None:
    path = tmp_path / "file"
    versions = [bytes([48 + n]) * 50_000 for n in range(10)]
    replace_file(path, versions[0])
    seen: set[bytes] = set()
    is_done = threading.Event()

    def read() -> None:
        while not is_done.is_set():
            seen.add(path.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    for version in versions * 3:
        replace_file(path, version)
    is_done.set()
    reader.join()
    assert seen <= set(versions)
    assert seen


def test_the_state_folder_is_the_one_of_the_environment(tmp_path: Path) -> None:
    assert state_folder({"ULLAGE_STATE_DIR": str(tmp_path)}) == tmp_path
    assert state_folder({"ULLAGE_STATE_DIR": ""}) == state_folder({})
    assert state_folder({"ULLAGE_STATE_DIR": "relative"}).is_absolute()


def test_making_a_folder_that_exists_is_no_error(tmp_path: Path) -> None:
    make_folder(tmp_path / "a")
    make_folder(tmp_path / "a")
    assert (tmp_path / "a").is_dir()


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_database_that_is_there_stays_locked(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "x.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE t (a)")
        path.chmod(mode)
        connection.execute("BEGIN EXCLUSIVE")
        make_private_file(path)
        script = (
            "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('DROP TABLE t')"
        )
        other = subprocess.run(
            [sys.executable, "-c", script, path], capture_output=True, check=False
        )
    assert b"database is locked" in other.stderr


@posix_only
@pytest.mark.parametrize("is_dangling", [False, True])
def test_no_private_file_is_made_through_a_link(tmp_path: Path, is_dangling: bool) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    if not is_dangling:
        target.write_bytes(b"foreign")
        target.chmod(0o644)
    link.symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"):
        make_private_file(link)
    assert target.exists() != is_dangling
    assert is_dangling or stat.S_IMODE(target.stat().st_mode) == 0o644
