"""This process: its standard output for a protocol, and its end with its client's."""

import os
import sys
import threading
from typing import BinaryIO

from ullage.store.files.processes import is_running

PARENT_CHECK_S = 0.5
GRACE_S = 1.0
"""What running work gets after the client is gone; the process ends within two seconds."""


def claim_stdout() -> BinaryIO:
    """Take standard output for the protocol; whatever else prints goes to standard error."""
    protocol = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return protocol


def exit_with_parent(process_id: int | None) -> None:
    """End this process soon after the client's process has ended."""
    parent = os.getppid()

    def watch() -> None:
        stop = threading.Event()
        while not stop.wait(PARENT_CHECK_S):
            is_orphan = os.getppid() != parent
            if is_orphan or (process_id is not None and not is_running(process_id)):
                os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def exit_soon(exit_code: int) -> None:
    """End this process after a grace time, even if a thread does not come to its end."""
    timer = threading.Timer(GRACE_S, os._exit, (exit_code,))
    timer.daemon = True
    timer.start()
