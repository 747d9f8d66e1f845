"""A disk that is really full: nothing is changed, or all of it is."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from store.changing import (
    APPEND,
    KEY,
    NEW_SESSION,
    OLD,
    OURS,
    REWRITE,
    REWRITTEN,
    occasion,
    old_session,
)
from ullage.core.change.edit import FileChange
from ullage.errors import StorageError
from ullage.store.change.make import apply_change
from ullage.store.change.receipts import list_receipts
from ullage.store.change.recovery import recover
from ullage.store.files.places import Places
from ullage.store.transcript.reader import look_at

PAGE = 4096


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 40 pages, which only root may attach."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if sys.platform != "linux":
        pytest.skip("only Linux attaches a disk in memory")
    size = f"size={40 * PAGE}"
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", size, "none", folder], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("only root may attach a disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("n_free", range(12))
@pytest.mark.parametrize(
    "change", [APPEND, REWRITE, NEW_SESSION], ids=lambda one: type(one).__name__
)
def test_a_full_disk_takes_a_change_whole_or_not_at_all(
    disk: Path, change: FileChange, n_free: int
) -> None:
    # The old transcript fills its last page, so that one more byte needs a page.
    padded = OLD + b" " * (-len(OLD) % PAGE - 1) + b"\n"
    path = old_session(disk / "agent", padded)
    places = Places(cwd=disk, home=disk, env={}, state_folder=disk / "state")
    seen = look_at(path)
    _fill(disk / "filling", n_free)
    is_made = True
    try:
        apply_change(path, seen, change, occasion(), places)
    except StorageError:
        is_made = False
    (disk / "filling").unlink()
    recover(places)

    created = path.with_name(NEW_SESSION.name)
    if change is NEW_SESSION:
        assert created.exists() == is_made
    expected = {
        APPEND: padded + OURS,
        REWRITE: REWRITTEN.replace(OURS, b"") + padded[len(OLD) :] + OURS,
    }
    if is_made and change in expected:
        assert path.read_bytes() == expected[change]
    else:
        assert path.read_bytes() == padded
    assert not [one for one in path.parent.iterdir() if one.name.startswith(".")]
    states = {one.state for one in list_receipts(KEY, places).receipts}
    assert states == ({"done"} if is_made else states - {"done"})


def _fill(path: Path, n_free: int) -> None:
    with path.open("wb", buffering=0) as file:
        with suppress(OSError):
            while file.write(b"x" * PAGE) == PAGE:
                pass
        size = file.seek(0, 2) // PAGE * PAGE
        file.truncate(max(0, size - n_free * PAGE))
