"""The life of the server's process: its streams, its log, and its end with the client's."""

import logging
import os
import sys
import threading
from typing import BinaryIO

from ullage.store.processes import is_running

PARENT_CHECK_S = 0.5
GRACE_S = 1.0
"""What running work gets after the client is gone; the process ends within two seconds."""

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""More is no message but a broken stream (research/reliability.md E3)."""

log = logging.getLogger(__name__)


def claim_stdout() -> BinaryIO:
    """Take standard output for the protocol; whatever else prints goes to standard error."""
    protocol = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return protocol


class ClientInput:
    """The client's end of the protocol: tells of its end, and takes headers in any case.

    pygls 2.1.1 waits for running threads when the input ends, and never answers again after a
    header that is not written exactly `Content-Length: N` (research/reliability.md §0.6).
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        line = self._stream.readline()
        if not line:
            exit_soon(1)
        name, colon, value = line.partition(b":")
        if not colon or name.strip().lower() != b"content-length":
            return line
        if not value.strip().isdigit() or int(value) > MAX_MESSAGE_BYTES:
            log.error("a message of impossible length: the connection is broken")
            os._exit(1)
        return b"Content-Length: %d\r\n" % int(value)

    def read(self, n_bytes: int) -> bytes:
        return self._stream.read(n_bytes)


def start_log() -> None:
    """Log to standard error; of pygls only the bare message, as its arguments hold content."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s"
    )
    pygls_log = logging.getLogger("pygls")
    pygls_log.setLevel(logging.WARNING)
    for handler in logging.getLogger().handlers:
        handler.addFilter(_without_arguments)


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


def _without_arguments(record: logging.LogRecord) -> bool:
    if record.name.startswith("pygls"):
        record.args = ()
        record.exc_info = None
    return True
