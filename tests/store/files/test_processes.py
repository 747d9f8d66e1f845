"""The end of another process is told, whosever child it is and whatever the system can tell."""

import os
import select
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from running import WAIT_S
from ullage.store.files.places import Places
from ullage.store.files.processes import find_process, list_ancestors, wait_for_end


def waits_until_killed(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether the wait for a process goes on for as long as the process, and ends with it."""
    waiting = threading.Thread(target=wait_for_end, args=(process.pid,), daemon=True)
    waiting.start()
    was_waiting = waiting.is_alive()
    process.kill()
    process.wait()
    waiting.join(WAIT_S)
    return was_waiting and not waiting.is_alive()


def test_a_process_is_waited_for_until_it_ends() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert waits_until_killed(process)


def test_a_process_that_is_gone_is_not_waited_for() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    wait_for_end(process.pid)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows always tells")
def test_where_the_system_does_not_tell_it_is_asked_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module, name in ((os, "pidfd_open"), (select, "kqueue")):
        monkeypatch.delattr(module, name, raising=False)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert waits_until_killed(process)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell")
def test_the_processes_above_one_are_listed_from_the_nearest_on(places: Places) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        found = list_ancestors(process.pid, places)
        process.kill()
    assert found[:3] == (process.pid, os.getpid(), os.getppid())
    assert len(set(found)) == len(found)


def test_the_process_of_a_session_is_the_one_that_runs(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text(f'{{"pid": {os.getpid()}, "sessionId": "a"}}', "utf-8")
    (tmp_path / "2.json").write_text('{"pid": 4194305, "sessionId": "b"}', "utf-8")
    assert [find_process(name, (tmp_path,)) for name in "abc"] == [os.getpid(), None, None]
