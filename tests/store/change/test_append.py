"""Appending to an agent's transcript: exactly our bytes, or nothing at all."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from running import WAIT_S
from ullage.core.change.edit import Append
from ullage.errors import ChangedMeanwhile, SessionLive, StorageError, Unreadable
from ullage.store.change import session_lock as lock_module
from ullage.store.change.journal import Journal
from ullage.store.change.make import append
from ullage.store.change.session_lock import session_lock, wait_until_quiet
from ullage.store.files.places import Places
from ullage.store.transcript.reader import Fingerprint, look_at

OLD = b'{"type":"session"}\n'
OURS = b'{"type":"compaction"}\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A transcript that was left alone for an hour."""
    path = tmp_path / "agent" / "s.jsonl"
    path.parent.mkdir()
    path.write_bytes(OLD)
    then = time.time() - 3600
    os.utime(path, (then, then))
    return path


def append_lines(path: Path, expected: Fingerprint, data: bytes) -> Fingerprint:
    path = path.resolve()
    state = path.parent.parent / "state"
    places = Places(cwd=state, home=state, env={}, state_folder=state)
    append(path, expected, Append(data=data), Journal(path, places))
    return look_at(path)


def test_what_is_appended_stands_behind_what_was_there(path: Path) -> None:
    after = append_lines(path, look_at(path), OURS)
    assert path.read_bytes() == OLD + OURS
    assert after == look_at(path)
    assert [entry.name for entry in path.parent.iterdir()] == ["s.jsonl"]


@pytest.mark.parametrize("change", [b"more\n", b"m"], ids=["a line", "a byte"])
def test_a_transcript_that_grew_is_not_appended_to(path: Path, change: bytes) -> None:
    seen = look_at(path)
    with path.open("ab") as file:
        file.write(change)
    with pytest.raises(ChangedMeanwhile, match="nothing was written"):
        append_lines(path, seen, OURS)
    assert path.read_bytes() == OLD + change


def test_a_transcript_that_shrank_is_not_appended_to(path: Path) -> None:
    seen = look_at(path)
    os.truncate(path, 3)
    with pytest.raises(ChangedMeanwhile):
        append_lines(path, seen, OURS)
    assert path.read_bytes() == OLD[:3]


def test_a_transcript_that_was_replaced_by_its_like_is_not_appended_to(path: Path) -> None:
    seen = look_at(path)
    other = path.with_name("other")
    other.write_bytes(OLD)
    other.replace(path)
    with pytest.raises(ChangedMeanwhile):
        append_lines(path, seen, OURS)
    assert path.read_bytes() == OLD


def test_a_transcript_that_is_gone_is_not_made_anew(path: Path) -> None:
    seen = look_at(path)
    path.unlink()
    with pytest.raises((StorageError, Unreadable)):
        append_lines(path, seen, OURS)
    assert not path.exists()


def test_a_transcript_behind_a_link_is_appended_to(path: Path) -> None:
    link = path.with_name("link.jsonl")
    link.symlink_to(path)
    append_lines(link, look_at(link), OURS)
    assert path.read_bytes() == OLD + OURS
    assert link.is_symlink()


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anything")
def test_a_transcript_that_is_read_only_is_left_alone(path: Path) -> None:
    path.chmod(0o400)
    with pytest.raises(StorageError, match="permissions"):
        append_lines(path, look_at(path), OURS)


def test_a_full_disk_takes_back_what_it_had_taken(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", _writing_until(path, len(OURS) - 7, real_write))
        with pytest.raises(StorageError, match="nothing was changed"):
            append_lines(path, look_at(path), OURS)
    assert path.read_bytes() == OLD


@pytest.mark.parametrize("foreign", [b"x" * 500 + b"\n", b'{"a":1}\n'], ids=["long", "short"])
def test_what_another_wrote_behind_a_failed_write_is_never_cut_off(
    path: Path, foreign: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_write = os.write

    def write(fd: int, data: bytes) -> int:
        if os.fstat(fd).st_ino != path.stat().st_ino:
            return real_write(fd, data)
        if len(data) < len(OURS):
            with path.open("ab") as file:
                file.write(foreign)
            raise OSError(28, "No space left on device")
        return real_write(fd, data[:5])

    with monkeypatch.context() as patch:
        # Under a lease the other would wait until we are done.
        patch.setattr("ullage.store.change.session_lock._ask_for_lease", lambda _: "no leases")
        patch.setattr(os, "write", write)
        with pytest.raises(StorageError):
            append_lines(path, look_at(path), OURS)
    assert path.read_bytes().startswith(OLD)
    assert path.read_bytes().endswith(foreign)


def _writing_until(path: Path, n_left: int, real_write):
    def write(fd: int, data: bytes) -> int:
        if os.fstat(fd).st_ino != path.stat().st_ino:
            return real_write(fd, data)
        if len(data) <= n_left:
            raise OSError(28, "No space left on device")
        return real_write(fd, data[:3])

    return write


def test_a_transcript_that_was_left_alone_is_not_waited_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", pytest.fail)
    wait_until_quiet(path, look_at(path))


def test_a_fresh_transcript_is_waited_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock_module, "QUIET_S", 0.3)
    monkeypatch.setattr(lock_module, "POLL_S", 0.02)
    os.utime(path)
    seen = look_at(path)
    wait_until_quiet(path, seen)
    assert time.time() - seen.mtime_ns / 1e9 >= 0.3


def test_a_transcript_that_grows_while_it_is_waited_for_is_in_use(path: Path) -> None:
    os.utime(path)
    seen = look_at(path)
    with path.open("ab") as file:
        file.write(b"more\n")
    with pytest.raises(SessionLive, match="being written to"):
        wait_until_quiet(path, seen)


def test_a_lock_of_the_agent_is_respected_and_stays(path: Path) -> None:
    lock = path.with_name("s.jsonl.lock")
    lock.write_bytes(b"{}")
    with pytest.raises(SessionLive, match="end the agent's session first"):
        wait_until_quiet(path, look_at(path))
    assert lock.read_bytes() == b"{}"


def test_a_transcript_from_the_future_is_not_waited_for_until_then(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_module, "QUIET_S", 0.1)
    then = time.time() + 2 * WAIT_S
    os.utime(path, (then, then))
    seen = look_at(path)

    def wait() -> None:
        try:
            wait_until_quiet(path, seen)
        except SessionLive:
            return

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    waiting.join(WAIT_S)
    assert not waiting.is_alive()


HOLD = """
import sys
from pathlib import Path
from ullage.store.change.session_lock import session_lock
from ullage.store.files.places import Places
root = Path(sys.argv[1])
places = Places(cwd=root, home=root, env={}, state_folder=root / "state")
with session_lock(root / "agent" / "s.jsonl", places):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("is_killed", [False, True], ids=["leaves", "is killed"])
def test_a_session_is_one_process_at_a_time(
    path: Path, places: Places, monkeypatch: pytest.MonkeyPatch, is_killed: bool
) -> None:
    monkeypatch.setattr(lock_module, "LOCK_TIMEOUT_S", 0.2)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(places.cwd)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(SessionLive, match="another Ullage"), session_lock(path, places):
            pass
        if is_killed:
            other.kill()
        other.stdin.close()
        other.wait()
    with session_lock(path, places):
        assert [entry.name for entry in path.parent.iterdir()] == ["s.jsonl"]


def test_sessions_do_not_wait_for_each_other(path: Path, places: Places) -> None:
    with session_lock(path, places), session_lock(path.with_name("other.jsonl"), places):
        pass
