"""A new file is there whole, or not at all, and never in place of another."""

import errno
import stat
import sys
from pathlib import Path

import pytest

from ullage.errors import FileExists, StorageError
from ullage.store.files import atomic as files
from ullage.store.files.atomic import create_named_file


def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    create_named_file(tmp_path / "new", b"data")
    assert (tmp_path / "new").read_bytes() == b"data"
    if sys.platform != "win32":
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


def test_what_stands_there_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("old", "link"):
        with pytest.raises(FileExists):
            create_named_file(tmp_path / name, b"new")
    assert (tmp_path / "old").read_bytes() == b"old"
    assert not (tmp_path / "nowhere").exists()


def test_a_disk_that_is_full_is_left_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_all = files.write_all

    def half(fd: int, data: bytes) -> None:
        write_all(fd, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write_all", half)
    with pytest.raises(StorageError, match="No space left"):
        create_named_file(tmp_path / "new", b"data")
    assert list(tmp_path.iterdir()) == []
