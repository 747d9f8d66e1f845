"""Processes of this machine, this one among them."""

import os
import re
import select
import sys
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from ullage.store.files.places import Places

_PID_FILE = re.compile(r"\d{1,10}\.json\Z")
"""Claude Code keeps secrets beside these files, which are never read."""
PROCESS_CHECK_S = 1.0
"""Only where the system does not tell that a process ended (chosen)."""
_FOREVER_MS = 0xFFFFFFFF
GRACE_S = 1.0
"""What running work gets after the client is gone; the process ends within two seconds."""


class _RunningProcess(msgspec.Struct, rename="camel"):
    pid: int
    session_id: str


def running_sessions(folders: Iterable[Path], but_of: int | None = None) -> frozenset[str]:
    """List the ids of the sessions whose process runs, by the files that agents keep of them.

    `but_of` is a process whose session does not count.
    """
    return frozenset(
        live.session_id
        for folder in folders
        for live in _live_in(folder)
        if live.pid != but_of and is_running(live.pid)
    )


def find_process(session_id: str, folders: Iterable[Path]) -> int | None:
    """Give the process that has a session open, by the same files."""
    live = (live for folder in folders for live in _live_in(folder))
    return next((p.pid for p in live if p.session_id == session_id and is_running(p.pid)), None)


def list_ancestors(process_id: int, places: Places) -> tuple[int, ...]:
    """List a process, its parent and so on; on Windows, where none is told, the process alone."""
    found: list[int] = []
    while process_id > 1 and process_id not in found:
        found.append(process_id)
        process_id = _find_parent(process_id, places)
    return tuple(found)


def _find_parent(process_id: int, places: Places) -> int:
    """Give the parent of a process; 0 where that is not known."""
    if sys.platform == "win32":
        return 0
    if sys.platform == "linux":
        try:
            status = Path(f"/proc/{process_id}/stat").read_bytes()
        except OSError:
            return 0
        # Its name, in parentheses, may hold anything; state and parent follow.
        return int(status.rpartition(b")")[2].split()[1])
    from ullage.store.files.programs import run_program

    command = ("ps", "-o", "ppid=", "-p", f"{process_id}")
    answer = run_program(command, places, folder=places.home, timeout_s=PROCESS_CHECK_S)
    told = b"" if answer is None else answer.output.strip()
    return int(told) if told.isdigit() else 0


def is_running(process_id: int) -> bool:
    if sys.platform == "win32":
        return _is_running_windows(process_id)
    try:
        os.kill(process_id, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _live_in(folder: Path) -> Iterable[_RunningProcess]:
    try:
        paths = [path for path in folder.iterdir() if _PID_FILE.match(path.name)]
    except OSError:
        return
    for path in paths:
        try:
            yield msgspec.json.decode(path.read_bytes(), type=_RunningProcess)
        except (OSError, ValueError, RecursionError):
            continue


def _is_running_windows(process_id: int, wait_ms: int = 0) -> bool:
    """Ask Windows by handle: there, `os.kill` with 0 would interrupt the process."""
    import ctypes

    synchronize, timed_out = 0x00100000, 0x102
    kernel = ctypes.WinDLL("kernel32")
    handle = cast(int, kernel.OpenProcess(synchronize, 0, process_id))
    if not handle:
        return False
    try:
        return cast(int, kernel.WaitForSingleObject(handle, wait_ms)) == timed_out
    finally:
        kernel.CloseHandle(handle)


def claim_stdout() -> BinaryIO:
    """Take standard output for the protocol; anything else printed goes to standard error."""
    protocol = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return protocol


def exit_with_parent() -> None:
    """End this process as soon as its parent has ended; on Windows the end of input alone tells."""
    if sys.platform != "win32":
        exit_with_process(os.getppid())


def exit_with_process(process_id: int) -> None:
    """End this process as soon as another one has ended."""

    def wait() -> None:
        wait_for_end(process_id)
        os._exit(1)

    import threading

    threading.Thread(target=wait, name="process-wait", daemon=True).start()


def wait_for_end(process_id: int) -> None:
    """Wait until a process has ended, whosever child it is; asleep where the system tells that."""
    try:
        if sys.platform == "win32":
            _is_running_windows(process_id, _FOREVER_MS)
        elif sys.platform == "linux":
            _wait_by_descriptor(process_id)
        else:
            _wait_by_kqueue(process_id)
    except (OSError, AttributeError):
        # It ended already, or the system is too old for that or forbids it.
        while is_running(process_id):
            time.sleep(PROCESS_CHECK_S)


if sys.platform == "linux":

    def _wait_by_descriptor(process_id: int) -> None:
        descriptor = os.pidfd_open(process_id)
        try:
            ended = select.poll()
            ended.register(descriptor, select.POLLIN)
            ended.poll()
        finally:
            os.close(descriptor)

elif sys.platform != "win32":

    def _wait_by_kqueue(process_id: int) -> None:
        event = select.kevent(
            process_id,
            filter=select.KQ_FILTER_PROC,
            flags=select.KQ_EV_ADD | select.KQ_EV_ONESHOT,
            fflags=select.KQ_NOTE_EXIT,
        )
        with closing(select.kqueue()) as queue:
            # First without room for events: an error would be given as one.
            queue.control([event], 0)
            queue.control(None, 1)


def exit_soon(exit_code: int) -> None:
    """End this process after a grace time, even if a thread does not come to its end."""
    import threading

    timer = threading.Timer(GRACE_S, os._exit, (exit_code,))
    timer.daemon = True
    timer.start()
