"""Four files hold the working state; each stands for itself, and no process takes another's."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from running import WAIT_S
from ullage.core.checkpoint.captured import Event, MessageEvent, ToolEvent, capture_events
from ullage.core.checkpoint.working_state import WorkingState
from ullage.errors import StateBusy, StorageError
from ullage.store.checkpoint import working_state
from ullage.store.checkpoint.files import POINTER_NAME
from ullage.store.checkpoint.working_state import (
    LOCK_NAME,
    add_to_working_state,
    hold_working_state,
    read_working_state,
)
from ullage.store.files.atomic import make_folder
from ullage.store.files.places import Places, session_folder
from ullage.store.files.quick_lock import quick_lock
from working_states import has_news, merge

KEY = "claude-code:one"
NAMES = {"decisions.json", "thread.json", "resources.json", "open_items.json"}
TODO = '{"todos": [{"content": "ship it", "status": "pending"}]}'
EVENTS: tuple[Event, ...] = (
    MessageEvent(role="agent", text="I would do it in two steps. " * 30, at_ms=1),
    MessageEvent(role="user", text="do", at_ms=2),
    ToolEvent(call_id="call_00000001", name="Read", arguments='{"path": "a.py"}', at_ms=3),
    ToolEvent(call_id="call_00000002", name="TodoWrite", arguments=TODO, at_ms=4),
    ToolEvent(
        call_id="call_00000003", name="bash", arguments="{}", is_error=True, error="no", at_ms=5
    ),
)
STATE = merge(WorkingState(), EVENTS, now_ms=0)


def capture(places: Places, *events: Event) -> tuple[str, ...]:
    return add_to_working_state(KEY, capture_events(events, now_ms=0), places)


def read(places: Places) -> WorkingState:
    return read_working_state(KEY, places)


def folder_of(places: Places) -> Path:
    return session_folder("state", KEY, places)


def point_to(places: Places, checkpoint_id: str) -> Path:
    """Let a checkpoint be the latest, as a process that is killed then leaves it."""
    path = session_folder("checkpoints", KEY, places) / POINTER_NAME
    make_folder(path.parent)
    path.write_text(json.dumps({"checkpoint_id": checkpoint_id}))
    return path


def remove_marks(places: Places) -> None:
    """Make the files those of an older Ullage, which did not say what the latest checkpoint was."""
    for path in folder_of(places).glob("*.json"):
        content = json.loads(path.read_bytes())
        del content["latest"]
        path.write_text(json.dumps(content))


def write_pointer(places: Places, *, age_s: float) -> None:
    """Let a checkpoint be written so long before the state files, which are an hour old."""
    path = point_to(places, "cp_001")
    remove_marks(places)
    then = time.time() - 3600
    os.utime(path, (then - age_s, then - age_s))
    for one in folder_of(places).glob("*.json"):
        os.utime(one, (then, then))


def test_what_is_captured_is_read_again(places: Places) -> None:
    assert capture(places, *EVENTS) == ()
    assert read(places) == STATE
    files = {path.name: path for path in folder_of(places).iterdir()}
    assert set(files) == NAMES | {LOCK_NAME}
    for name in NAMES:
        assert json.loads(files[name].read_bytes())["version"] == 1
    if sys.platform != "win32":
        assert {path.stat().st_mode & 0o777 for path in files.values()} == {0o600}
        assert folder_of(places).stat().st_mode & 0o777 == 0o700


def written(places: Places) -> dict[str, tuple[int, int]]:
    """Give which file has each name, and when it was written."""
    stats = {path.name: path.stat() for path in folder_of(places).iterdir()}
    return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in stats.items()}


def test_only_the_files_that_change_are_written(places: Places) -> None:
    capture(places, *EVENTS)
    before = written(places)
    capture(places, *EVENTS)
    assert written(places) == before
    capture(places, ToolEvent(call_id="call_00000009", name="Grep", arguments="{}", at_ms=9))
    changed = {name for name, file in written(places).items() if file != before[name]}
    assert changed == {"resources.json"}


def test_an_empty_state_has_no_files(places: Places) -> None:
    assert not has_news(read(places))
    assert not folder_of(places).exists()


@pytest.mark.parametrize("name", sorted(NAMES))
@pytest.mark.parametrize("content", [b"", b"{", b'{"version": 1, "state": []}', b"\xff\x00"])
def test_a_damaged_file_is_moved_aside_and_the_others_survive(
    name: str, content: bytes, places: Places
) -> None:
    capture(places, *EVENTS)
    (folder_of(places) / name).write_bytes(content)
    (told,) = capture(places, *EVENTS)
    assert told.endswith(f"{name} is damaged; it was moved to {name}.corrupt-1")
    assert (folder_of(places) / f"{name}.corrupt-1").read_bytes() == content
    assert read(places) == STATE


def test_a_file_of_a_newer_version_is_left_alone(places: Places) -> None:
    capture(places, *EVENTS)
    path = folder_of(places) / "resources.json"
    path.write_bytes(b'{"version": 2, "anything": 1}')
    assert read(places).resources.tools_used == ()
    assert read(places).thread == STATE.thread
    with pytest.raises(StorageError, match="newer version"):
        capture(places, *EVENTS)
    assert path.read_bytes() == b'{"version": 2, "anything": 1}'


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_file_that_the_system_does_not_let_us_read_is_left_alone(
    name: str, places: Places
) -> None:
    """A folder in its place cannot be read either, by whichever user."""
    capture(places, *EVENTS)
    path = folder_of(places) / name
    path.unlink()
    path.mkdir()
    with pytest.raises(StorageError, match="cannot be read"):
        capture(places, *EVENTS)
    with pytest.raises(StorageError, match="cannot be read"), hold_working_state(KEY, places):
        pytest.fail("a checkpoint would lack what is in it")
    assert path.is_dir()


def test_state_that_a_killed_process_left_is_there_for_the_next_checkpoint(places: Places) -> None:
    capture(places, *EVENTS)
    write_pointer(places, age_s=3600)
    assert read(places) == STATE


def test_state_older_than_the_latest_checkpoint_was_bundled(places: Places) -> None:
    capture(places, *EVENTS)
    write_pointer(places, age_s=-1)
    assert not has_news(read(places))
    # What comes again is still known; what is new counts, and nothing old comes back with it.
    new = ToolEvent(call_id="call_00000009", name="Grep", arguments="{}", at_ms=9)
    capture(places, *EVENTS, new)
    assert read(places).resources.tools_used == ("Grep",)
    assert read(places).thread.exchanges == ()
    assert read(places).decisions.made == ()
    assert read(places).open_items.steps == ()


def test_each_file_is_judged_by_its_own_time(places: Places) -> None:
    capture(places, *EVENTS)
    write_pointer(places, age_s=-1)
    os.utime(folder_of(places) / "thread.json")
    state = read(places)
    assert state.thread == STATE.thread
    assert state.resources.tools_used == ()


def test_a_checkpoint_of_a_time_to_come_says_nothing(places: Places) -> None:
    """The clock was set back since; until it is there again, nothing would count."""
    capture(places, *EVENTS)
    write_pointer(places, age_s=-7200)
    assert read(places) == STATE


def test_what_a_checkpoint_bundled_is_told_by_its_id_whatever_the_clock_says(
    places: Places,
) -> None:
    capture(places, *EVENTS)
    pointer = point_to(places, "cp_001")
    os.utime(pointer, (1, 1))
    assert not has_news(read(places))
    new = ToolEvent(call_id="call_00000009", name="Grep", arguments="{}", at_ms=9)
    capture(places, new)
    # The clock was set back while it was captured, and is right again.
    os.utime(pointer)
    for path in folder_of(places).glob("*.json"):
        os.utime(path, (1, 1))
    assert read(places).resources.tools_used == ("Grep",)
    point_to(places, "cp_002")
    assert not has_news(read(places))


@pytest.mark.parametrize("checkpoint_id", ["cp_001", "", "other"])
def test_a_pointer_that_goes_back_bundles_nothing(places: Places, checkpoint_id: str) -> None:
    """The user deleted the newest checkpoints, say."""
    point_to(places, "cp_007")
    capture(places, *EVENTS)
    point_to(places, checkpoint_id)
    assert read(places) == STATE


def test_what_is_captured_while_another_writes_waits_and_counts_once(places: Places) -> None:
    new = ToolEvent(call_id="call_00000009", name="Grep", arguments="{}", at_ms=9)
    make_folder(folder_of(places))
    holder = start(HOLDER, str(folder_of(places) / LOCK_NAME))
    try:
        for _ in range(2):
            assert capture(places, *EVENTS) == ()
        waiting = [path.name for path in folder_of(places).iterdir()]
        assert sum(name.startswith("waiting-") for name in waiting) == 2
        assert read(places) == STATE
    finally:
        holder.kill()
        holder.communicate(timeout=WAIT_S)
    capture(places, new)
    assert {path.name for path in folder_of(places).iterdir()} == NAMES | {LOCK_NAME}
    assert read(places) == merge(STATE, [new], now_ms=0)


def test_a_checkpoint_bundles_what_waits(places: Places) -> None:
    with quick_lock(folder_of(places) / LOCK_NAME):
        capture(places, *EVENTS)
    with hold_working_state(KEY, places) as bundled:
        assert bundled == STATE
    assert not has_news(read(places))
    capture(places, *EVENTS)
    assert not has_news(read(places))


def test_what_waits_and_cannot_be_read_stops_nothing(places: Places) -> None:
    make_folder(folder_of(places))
    (folder_of(places) / "waiting-1.json").write_bytes(b"{")
    (folder_of(places) / "waiting-2.json").write_bytes(b'{"version": 3}')
    (told,) = capture(places, *EVENTS)
    assert told.endswith("it was moved to waiting-1.json.corrupt-1")
    assert read(places) == STATE
    assert (folder_of(places) / "waiting-2.json").exists()


def test_the_pointer_is_the_one_of_the_checkpoints() -> None:
    assert working_state.POINTER_NAME == POINTER_NAME


def test_what_a_checkpoint_held_is_taken_away_once_it_is_written(places: Places) -> None:
    capture(places, *EVENTS)
    with hold_working_state(KEY, places) as bundled:
        assert bundled == STATE
        with pytest.raises(StateBusy), quick_lock(folder_of(places) / LOCK_NAME, timeout_s=0.01):
            pass
    assert not has_news(read(places))


def test_what_a_checkpoint_held_stays_where_it_was_not_written(places: Places) -> None:
    capture(places, *EVENTS)
    with pytest.raises(ZeroDivisionError), hold_working_state(KEY, places):
        raise ZeroDivisionError
    assert read(places) == STATE


RACER = """
import sys
import time
from pathlib import Path
from ullage.core.checkpoint.captured import ToolEvent, capture_events
from ullage.store.files.places import Places
from ullage.store.checkpoint.working_state import add_to_working_state

folder, name = Path(sys.argv[1]), sys.argv[2]
places = Places(cwd=folder, home=folder, env={}, state_folder=folder / "state")
print("ready", flush=True)
sys.stdin.readline()
for at in range(20):
    event = ToolEvent(call_id=f"call_{name}_{at:08}", name=f"{name}{at}", arguments="{}", at_ms=1)
    add_to_working_state("KEY", capture_events([event], now_ms=0), places)
"""


def start(script: str, *args: str) -> subprocess.Popen[str]:
    """Start a process, which says when it is ready and waits for a word."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


def test_processes_at_once_lose_nothing(places: Places) -> None:
    script = RACER.replace("KEY", KEY)
    racers = [start(script, str(places.cwd), name) for name in ("hook", "server")]
    for racer in racers:
        assert racer.stdin
        racer.stdin.write("go\n")
        racer.stdin.flush()
    for racer in racers:
        racer.communicate(timeout=WAIT_S)
        assert racer.returncode == 0
    expected = {f"{name}{at}" for name in ("hook", "server") for at in range(20)}
    assert set(read(places).resources.tools_used) == expected


HOLDER = """
import sys
import time
from pathlib import Path
from ullage.store.files.quick_lock import quick_lock
with quick_lock(Path(sys.argv[1])):
    print("ready", flush=True)
    sys.stdin.readline()
"""


def test_a_lock_goes_with_the_process_that_held_it(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "capture.lock"
    holder = start(HOLDER, str(path))
    try:
        with pytest.raises(StateBusy, match="try again"), quick_lock(path, timeout_s=0.02):
            pass
    finally:
        holder.kill()
        holder.communicate(timeout=WAIT_S)
    with quick_lock(path):
        pass
