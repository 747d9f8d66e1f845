"""A watch tells of what changed in its folders, and of nothing else."""

import sys
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest

from running import WAIT_S
from ullage.store.files import watch as watch_module
from ullage.store.files.watch import FolderWatch

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux tells of files kept open")


class Told:
    """A watch, and what it told."""

    def __init__(self) -> None:
        self._paths: SimpleQueue[Path] = SimpleQueue()
        self.paths: list[Path] = []
        self.watch = FolderWatch(self._paths.put)

    def until(self, path: Path) -> list[Path]:
        """Wait until it told of a file; give all that it told so far."""
        while path not in self.paths:
            self.paths.append(self._paths.get(timeout=WAIT_S))
        return self.paths


@pytest.fixture
def told() -> Iterator[Told]:
    told = Told()
    yield told
    told.watch.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="no other system tells who reads")
def test_who_reads_a_file_is_not_told_and_who_writes_one_is(tmp_path: Path, told: Told) -> None:
    read, written = tmp_path / "read.md", tmp_path / "written.md"
    read.write_text("before", "utf-8")
    told.watch.watch([tmp_path])
    read.read_text("utf-8")
    written.write_text("now", "utf-8")
    assert read not in told.until(written)


def test_a_folder_that_does_not_exist_is_waited_for(tmp_path: Path, told: Told) -> None:
    folder = tmp_path / "a" / "b"
    unheard = told.watch.watch([folder])
    (tmp_path / "other").mkdir()
    folder.mkdir(parents=True)
    if sys.platform == "darwin":
        assert unheard == {tmp_path / "a"}
        return
    assert tmp_path / "other" not in told.until(tmp_path / "a")
    told.watch.watch([folder])
    (folder / "new.jsonl").write_bytes(b"")
    told.until(folder / "new.jsonl")


def test_of_a_tree_all_is_told_that_is_below(tmp_path: Path, told: Told) -> None:
    told.watch.watch([], trees=[tmp_path])
    day = tmp_path / "2026" / "11"
    day.mkdir(parents=True)
    told.until(tmp_path / "2026")
    (day / "new.jsonl").write_bytes(b"{}")
    told.until(day / "new.jsonl")


@on_linux
def test_of_a_folder_of_single_files_nothing_else_is_told(tmp_path: Path, told: Told) -> None:
    wanted, other = tmp_path / "wanted.yaml", tmp_path / "other.yaml"
    told.watch.watch([], files=[wanted])
    other.write_bytes(b"1")
    wanted.write_bytes(b"1")
    assert other not in told.until(wanted)


@pytest.mark.parametrize("is_moved", [False, True])
def test_a_folder_that_was_made_anew_is_watched_anew(
    tmp_path: Path, told: Told, is_moved: bool
) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    told.watch.watch([folder])
    if is_moved:
        folder.rename(tmp_path / "old")
    else:
        folder.rmdir()
        told.until(folder)
    folder.mkdir()
    told.watch.watch([folder])
    (folder / "new.jsonl").write_bytes(b"")
    told.until(folder / "new.jsonl")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_folder_behind_a_link_is_told_of_by_its_own_name(tmp_path: Path, told: Told) -> None:
    (tmp_path / "real").mkdir()
    linked = tmp_path / "linked"
    linked.symlink_to(tmp_path / "real")
    told.watch.watch([linked])
    (tmp_path / "real" / "new.jsonl").write_bytes(b"")
    told.until(linked / "new.jsonl")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_of_two_paths_to_one_folder_each_is_told_of_while_it_is_wanted(
    tmp_path: Path, told: Told
) -> None:
    real, linked = tmp_path / "real", tmp_path / "linked"
    real.mkdir()
    linked.symlink_to(real)
    told.watch.watch([real, linked])
    told.watch.watch([linked])
    (real / "new.jsonl").write_bytes(b"")
    assert real / "new.jsonl" not in told.until(linked / "new.jsonl")
    told.watch.watch([real])
    (real / "newer.jsonl").write_bytes(b"")
    assert linked / "newer.jsonl" not in told.until(real / "newer.jsonl")


@on_linux
def test_what_a_link_leads_to_is_not_told(tmp_path: Path, told: Told) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"")
    link.symlink_to(file)
    assert link in told.watch.watch([], files=[link])


@on_linux
@pytest.mark.parametrize(
    ("kind", "is_told"),
    [
        *((kind, True) for kind in ("btrfs", "ext4", "fuseblk", "overlay", "tmpfs", "zfs")),
        *((kind, False) for kind in ("9p", "cifs", "fuse", "fuse.sshfs", "nfs4", "virtiofs")),
    ],
)
def test_what_others_write_to_file_systems_that_they_share_is_not_told(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch, kind: str, is_told: bool
) -> None:
    share = tmp_path / "a share"
    (share / "sessions").mkdir(parents=True)
    place = str(share).replace(" ", "\\040")
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "27 1 0:22 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
        f"48 27 0:39 / {place} rw - autofs systemd-1 rw\n"
        f"49 48 0:40 / {place} rw,relatime shared:2 master:1 - {kind} host:/a - rw\n",
        "utf-8",
    )
    monkeypatch.setattr(watch_module, "MOUNTS", mounts)
    unheard = told.watch.watch([share / "sessions"], files=[tmp_path / "config.yaml"])
    assert unheard == (set() if is_told else {share / "sessions"})
    monkeypatch.setattr(watch_module, "MOUNTS", tmp_path / "none")
    assert share / "sessions" in told.watch.watch([share / "sessions"])


def test_where_the_system_has_no_watcher_left_nothing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_watcher() -> None:
        raise OSError(24, "inotify instance limit reached")

    monkeypatch.setattr(watch_module, "Observer", no_watcher)
    folder, tree, file = tmp_path / "folder", tmp_path / "tree", tmp_path / "c.yaml"
    folder.mkdir()
    (tree / "day").mkdir(parents=True)
    watch = FolderWatch(print)
    assert watch.watch([folder], trees=[tree], files=[file]) >= {folder, tree, tree / "day", file}
    watch.stop()
