"""What a hook writes of the state where it has no time."""

import errno
import os
import sys
from pathlib import Path

import pytest
from platformdirs import user_state_dir

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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no variable that tells")
@pytest.mark.parametrize(
    ("variables", "is_plain"),
    [
        ({"HOME": "/home/me"}, True),
        ({"HOME": "/home/me/"}, True),
        ({"HOME": "/"}, True),
        ({"HOME": "/home/me", "XDG_STATE_HOME": ""}, True),
        ({"HOME": "/home/me", "XDG_STATE_HOME": "/state"}, sys.platform == "linux"),
        ({"HOME": "", "XDG_STATE_HOME": "/state/"}, sys.platform == "linux"),
        ({"HOME": "/home/me", "XDG_STATE_HOME": "state"}, False),
        ({"HOME": "/home/me", "XDG_STATE_HOME": " "}, False),
        ({"HOME": "me"}, False),
        ({}, False),
    ],
    ids=str,
)
def test_a_plain_state_folder_is_what_platformdirs_says(
    variables: dict[str, str], is_plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    folder = quick_state.plain_state_folder()
    assert (folder is not None) == is_plain
    assert folder is None or folder == user_state_dir("ullage", appauthor=False)
