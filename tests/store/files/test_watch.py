"""A watch tells of what changed in its folders, and of nothing else."""

import sys
from pathlib import Path
from queue import SimpleQueue

import pytest

from running import WAIT_S
from ullage.store.files.watch import FolderWatch


@pytest.mark.skipif(sys.platform != "linux", reason="no other system tells who reads")
def test_who_reads_a_file_is_not_told_and_who_writes_one_is(tmp_path: Path) -> None:
    read, written = tmp_path / "read.md", tmp_path / "written.md"
    read.write_text("before", "utf-8")
    told: SimpleQueue[Path] = SimpleQueue()
    watch = FolderWatch(told.put)
    try:
        watch.watch([tmp_path])
        read.read_text("utf-8")
        written.write_text("now", "utf-8")
        paths = [told.get(timeout=WAIT_S)]
        while paths[-1] != written:
            paths.append(told.get(timeout=WAIT_S))
    finally:
        watch.stop()
    assert read not in paths
