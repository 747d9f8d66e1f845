"""The streams and the log of the server's process."""

import gc
import logging
import os
import sys
from typing import BinaryIO, NoReturn

from pygls.exceptions import JsonRpcException

from ullage.lsp.large_message import read_large
from ullage.store.files.processes import exit_soon

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""More is no message but the text of a document that is opened, which is not kept."""
MAX_STREAM_BYTES = 4 * 1024 * 1024 * 1024
"""More is a broken stream (chosen)."""
LARGE_BYTES = 1024 * 1024
"""Parsing more would hold the loop for longer than 10 ms (measured)."""
SWITCH_S = 0.001
"""A fifth of Python's own: an answer on the loop takes several such waits."""

log = logging.getLogger(__name__)


class ClientInput:
    """The client's end of the protocol: tells of its end, and takes headers in any case.

    pygls 2.1.1 waits for running threads when the input ends, and never answers again after a
    header that is not written exactly `Content-Length: N` (docs/safety.md, "Streams and
    processes").
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
        if not value.strip().isdigit() or int(value) > MAX_STREAM_BYTES:
            _end("a message of impossible length")
        return b"Content-Length: %d\r\n" % int(value)

    def read(self, n_bytes: int) -> bytes:
        if n_bytes <= LARGE_BYTES:
            return self._stream.read(n_bytes)
        message = read_large(self._stream.read, n_bytes, max_kept_bytes=MAX_MESSAGE_BYTES)
        return _end("a message that is too large") if message is None else message


def _end(reason: str) -> NoReturn:
    log.error("%s: the connection is broken", reason)
    os._exit(1)


def keep_responsive() -> None:
    """Shorten what holds the loop from outside: threads that compute, and the collector.

    To be called when the server is made: its protocol alone is so many objects that a look at
    all of them took 0.1 s.
    """
    sys.setswitchinterval(SWITCH_S)
    gc.freeze()


def start_log() -> None:
    """Log to standard error; of pygls only the bare message, as its arguments hold content."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s"
    )
    for name in ("pygls", "httpx2", "openai"):
        logging.getLogger(name).setLevel(logging.WARNING)
    for handler in logging.getLogger().handlers:
        handler.addFilter(_is_worth_a_line)


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    """Leave out what the client is told as the answer; a fault is logged where it happened."""
    if record.name.startswith("pygls"):
        error = record.exc_info[1] if record.exc_info else None
        record.msg, record.args = str(record.msg).partition("%")[0].rstrip(), ()
        record.exc_info = None
        return not isinstance(error, JsonRpcException)
    return True
