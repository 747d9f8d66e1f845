"""Processes of this machine, this one among them."""

import os
import re
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

_PID_FILE = re.compile(r"\d{1,10}\.json\Z")
"""Claude Code keeps secrets beside these files, which are never read."""
PARENT_CHECK_S = 0.5
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
        except (OSError, msgspec.DecodeError):
            continue


def _is_running_windows(process_id: int) -> bool:
    """Ask Windows by handle: there, `os.kill` with 0 would interrupt the process."""
    import ctypes

    synchronize, timed_out = 0x00100000, 0x102
    kernel = ctypes.WinDLL("kernel32")
    handle = cast(int, kernel.OpenProcess(synchronize, 0, process_id))
    if not handle:
        return False
    try:
        return cast(int, kernel.WaitForSingleObject(handle, 0)) == timed_out
    finally:
        kernel.CloseHandle(handle)


def claim_stdout() -> BinaryIO:
    """Take standard output for the protocol; anything else printed goes to standard error."""
    protocol = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return protocol


def exit_with_parent(client: Callable[[], int | None] = lambda: None) -> None:
    """End this process soon after its parent, or the client's process once that is known."""
    parent = os.getppid()

    def watch() -> None:
        stop = threading.Event()
        while not stop.wait(PARENT_CHECK_S):
            is_orphan, process_id = os.getppid() != parent, client()
            if is_orphan or (process_id is not None and not is_running(process_id)):
                os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def exit_soon(exit_code: int) -> None:
    """End this process after a grace time, even if a thread does not come to its end."""
    timer = threading.Timer(GRACE_S, os._exit, (exit_code,))
    timer.daemon = True
    timer.start()
