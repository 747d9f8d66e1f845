"""What is remembered of dreams, and that one dreams at a time."""

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from running import WAIT_S
from ullage.core.dream.dream_state import DreamState
from ullage.errors import StateBusy, StorageError
from ullage.store.files.places import Places
from ullage.store.memory.dream_state import (
    LOG_NAME,
    MAX_LINES,
    NAME,
    append_dream_log,
    dream_lock,
    read_backfilled,
    read_dream_state,
    record_backfilled,
    record_dream,
)
from ullage.store.memory.places import memory_folder

STATE = DreamState(
    last_at=datetime(2026, 10, 25, 2, 30, tzinfo=UTC),
    logs="abc",
    log_day="2026-10-25",
    log_bytes=70_000,
)
DREAMER = """
import os, sys
from pathlib import Path
from ullage.errors import StateBusy
from ullage.store.files.places import current_places
from ullage.store.memory.dream_state import dream_lock

workspace, alone = Path.cwd(), Path("alone")
for _ in range(50):
    try:
        with dream_lock(workspace, current_places()):
            alone.touch(exist_ok=False)
            alone.unlink()
            print("alone")
    except StateBusy:
        print("busy")
"""


def test_a_dream_and_backfilled_sessions_are_remembered_side_by_side(
    tmp_path: Path, places: Places
) -> None:
    assert read_dream_state(tmp_path, places) == DreamState()
    assert read_backfilled(tmp_path, places) == {}
    record_backfilled("pi:1", "f1", tmp_path, places)
    record_dream(STATE, tmp_path, places)
    record_backfilled("pi:2", "f2", tmp_path, places)
    record_backfilled("pi:1", "f3", tmp_path, places)
    assert read_dream_state(tmp_path, places) == STATE
    assert read_backfilled(tmp_path, places) == {"pi:1": "f3", "pi:2": "f2"}


@pytest.mark.parametrize(
    "data",
    [b"{", b'{"version": 1, "lastDream": {"lastAt": "2026-10-25T02:30:00"}}'],
    ids=["torn", "a time of no zone"],
)
def test_a_damaged_file_counts_as_none_and_is_kept(
    tmp_path: Path, places: Places, data: bytes
) -> None:
    record_dream(STATE, tmp_path, places)
    path = memory_folder(tmp_path, places) / NAME
    path.write_bytes(data)
    assert read_dream_state(tmp_path, places) == DreamState()
    record_dream(STATE, tmp_path, places)
    assert read_dream_state(tmp_path, places) == STATE
    assert path.with_name(f"{NAME}.corrupt-1").read_bytes() == data


def test_the_file_of_a_newer_version_is_neither_read_nor_replaced(
    tmp_path: Path, places: Places
) -> None:
    record_dream(STATE, tmp_path, places)
    path = memory_folder(tmp_path, places) / NAME
    path.write_bytes(b'{"version": 2}')
    with pytest.raises(StorageError, match="newer version"):
        read_dream_state(tmp_path, places)
    with pytest.raises(StorageError, match="newer version"):
        record_dream(STATE, tmp_path, places)
    assert path.read_bytes() == b'{"version": 2}'


def test_a_second_dream_of_a_folder_is_refused_in_one_line(tmp_path: Path, places: Places) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with dream_lock(tmp_path, places):
        with pytest.raises(StateBusy) as refusal, dream_lock(tmp_path, places):
            pass
        with dream_lock(other, places):
            pass
    assert str(refusal.value) == "another dream of this folder is under way: wait for its end"
    with pytest.raises(StateBusy, match="of something else"), dream_lock(tmp_path, places):
        raise StateBusy("of something else")
    with dream_lock(tmp_path, places):
        pass


def test_of_ten_processes_one_dreams_at_a_time(tmp_path: Path) -> None:
    def dream(_: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", DREAMER],
            cwd=tmp_path,
            env=dict(os.environ) | {"ULLAGE_STATE_DIR": str(tmp_path / "state")},
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=False,
        )

    with ThreadPoolExecutor(10) as pool:
        runs = list(pool.map(dream, range(10)))
    assert [run.stderr for run in runs] == [""] * 10
    answers = [line for run in runs for line in run.stdout.split()]
    assert len(answers) == 500
    assert answers.count("alone") >= 1


def test_the_log_has_a_line_a_dream_and_the_newest_thousand(tmp_path: Path, places: Places) -> None:
    path = memory_folder(tmp_path, places) / LOG_NAME
    append_dream_log("two\nlines\r", tmp_path, places)
    assert path.read_bytes() == b"two lines\n"
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text("".join(f"{n}\n" for n in range(MAX_LINES)))
    append_dream_log("größer \ud800", tmp_path, places)
    lines = path.read_text("utf-8").split("\n")
    assert (len(lines), lines[0], lines[-2:]) == (MAX_LINES + 1, "1", ["größer ?", ""])
