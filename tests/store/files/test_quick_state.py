"""What a hook writes of the state where it has no time."""

import errno
import os
from pathlib import Path

import pytest

from ullage.store.files import quick_state
from ullage.store.files.atomic import is_temporary


def test_a_full_disk_leaves_nothing_and_a_kill_what_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def fail(_: int) -> None:
        seen.extend(path.name for path in tmp_path.iterdir())
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="full"):
        quick_state.lay_down(str(tmp_path), {"name": "Bash"})
    (temporary,) = seen
    assert is_temporary(temporary)
    assert not [*tmp_path.iterdir()]
