"""Files of agents are read as what they are, or not at all."""

import sys
from pathlib import Path

import pytest

from ullage.errors import Unreadable
from ullage.store.install.agent_files import FileChange, make_changes, read_agent_file

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")


def test_a_file_that_is_not_there_is_told_from_one_that_cannot_be_looked_at(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "missing", tmp_path / "file" / "below"):
        assert read_agent_file(path).data is None
    with pytest.raises(Unreadable, match="cannot be read"):
        read_agent_file(tmp_path / ("x" * 300))


@posix_only
def test_a_link_stays_a_link_and_a_second_name_keeps_what_it_had(tmp_path: Path) -> None:
    """Hard links are parted by a rename, as by every editor; a symbolic one is followed."""
    real, link, second = (tmp_path / name for name in ("dotfiles.json", "settings.json", "other"))
    real.write_bytes(b"{}")
    link.symlink_to(real)
    second.hardlink_to(real)
    make_changes([FileChange(file=read_agent_file(link), new=b'{"a": 1}')])
    assert link.is_symlink()
    assert real.read_bytes() == b'{"a": 1}'
    assert second.read_bytes() == b"{}"


@posix_only
def test_a_link_into_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "settings.json").symlink_to(tmp_path / "gone")
    with pytest.raises(Unreadable, match="a link to nothing"):
        read_agent_file(tmp_path / "settings.json")
