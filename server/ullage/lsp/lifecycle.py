"""The streams and the log of the server's process."""

import logging
import os
import sys
from typing import BinaryIO

from ullage.store.own_process import exit_soon

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""More is no message but a broken stream (research/reliability.md E3)."""

log = logging.getLogger(__name__)


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


def _without_arguments(record: logging.LogRecord) -> bool:
    if record.name.startswith("pygls"):
        record.args = ()
        record.exc_info = None
    return True
