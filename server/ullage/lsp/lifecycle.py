"""The server's process: its input, in which a message may be large, its log, its pauses."""

import gc
import logging
import os
import re
import sys
from collections.abc import Callable
from typing import BinaryIO, Final, NoReturn

import msgspec
from pygls.exceptions import JsonRpcException

from ullage.store.files.processes import exit_soon

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""More is no message but the text of a document that is opened, which is not kept."""
MAX_STREAM_BYTES = 4 * 1024 * 1024 * 1024
"""More is a broken stream (chosen)."""
MAX_HEADER_BYTES: Final = 8192
"""As web servers have it (Apache, `LimitRequestLine`)."""
LARGE_BYTES = 1024 * 1024
"""Parsing more would hold the loop for longer than 10 ms (measured)."""
SWITCH_S = 0.001
"""A fifth of Python's own: an answer on the loop takes several such waits."""
PIECE_BYTES: Final = 256 * 1024
"""Read at a time; a look at one takes the interpreter for less than a millisecond."""
MAX_TEXT_BYTES: Final = 64 * 1024
"""A longer text is emptied (chosen): no other field of a document is as long."""
NEAR_BYTES: Final = 4096
"""Where the end of a text is looked for before all of a piece is looked through (chosen)."""
_TEXT_METHODS = frozenset(("textDocument/didOpen", "textDocument/didSave"))
"""Notifications with the text of a document."""
_TEXT_END = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)

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
        line = self._stream.readline(MAX_HEADER_BYTES)
        if not line:
            exit_soon(1)
        if len(line) == MAX_HEADER_BYTES:
            _end("a header without an end")
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


class _Envelope(msgspec.Struct):
    method: str = ""


class LongTexts:
    """Copies JSON and leaves out the content of every text that is too long."""

    def __init__(self) -> None:
        self.n_kept_bytes = 0
        self._kept: list[bytes] = []
        self._is_in_text = False
        self._n_text_bytes = 0
        self._text: list[bytes] = []
        """The text so far, with the quotes; no more than may be kept."""
        self._held = b""
        """A backslash whose other half is in the next piece."""

    def add(self, piece: bytes) -> None:
        data = self._held + piece
        n_slashes = len(data) - len(data.rstrip(b"\\"))
        self._held = data[-1:] if n_slashes % 2 else b""
        data = data[: len(data) - len(self._held)]
        at = 0
        while at < len(data):
            at = self._add_text(data, at) if self._is_in_text else self._add_rest(data, at)

    def result(self) -> bytes:
        return b"".join(self._kept) + b"".join(self._text) + self._held

    def _add_rest(self, data: bytes, start: int) -> int:
        """Copy up to the next text."""
        quote = data.find(b'"', start)
        end = len(data) if quote < 0 else quote
        self._keep(data[start:end])
        if quote >= 0:
            self._is_in_text, self._text, self._n_text_bytes = True, [b'"'], 1
            end += 1
        return end

    def _add_text(self, data: bytes, start: int) -> int:
        """Go to the end of the text that `start` is in."""
        end = _end_of_text(data, start)
        stop = len(data) if end is None else end
        self._n_text_bytes += stop - start
        if self._n_text_bytes > MAX_TEXT_BYTES:
            self._text = [b'"']
        else:
            self._text.append(data[start:stop])
        if end is not None:
            for part in self._text:
                self._keep(part)
            if self._n_text_bytes > MAX_TEXT_BYTES:
                self._keep(b'"')
            self._is_in_text, self._text = False, []
        return stop

    def _keep(self, data: bytes) -> None:
        self._kept.append(data)
        self.n_kept_bytes += len(data)


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


def read_large(read: Callable[[int], bytes], n_bytes: int, *, max_kept_bytes: int) -> bytes | None:
    """Read a large message; a document that is opened comes without its text.

    Any other message is given as it was sent, or as None where it has more bytes than are kept.
    """
    texts = LongTexts()
    pieces: list[bytes] = []
    n_left = n_bytes
    while n_left > 0:
        piece = read(min(PIECE_BYTES, n_left))
        if not piece:
            break
        n_left -= len(piece)
        texts.add(piece)
        if n_bytes <= max_kept_bytes:
            pieces.append(piece)
        elif texts.n_kept_bytes > max_kept_bytes:
            return None
    short = texts.result()
    if _method(short) in _TEXT_METHODS:
        return short
    return b"".join(pieces) if n_bytes <= max_kept_bytes else None


def _method(message: bytes) -> str:
    try:
        return msgspec.json.decode(message, type=_Envelope).method
    except (msgspec.DecodeError, ValueError):
        return ""


def _end_of_text(data: bytes, start: int) -> int | None:
    """Find where a text ends, behind its quote; None where that is in a later piece.

    Quotes and backslashes of a transcript are all escaped, so that most quotes end nothing:
    they are looked through by replacing, which is many times as fast as a pattern.
    """
    quote = data.find(b'"', start)
    if quote < 0 or quote == start or data[quote - 1 : quote] != b"\\":
        return quote + 1 or None
    match = _TEXT_END.match(data, start, start + NEAR_BYTES)
    if match is not None:
        return match.end()
    rest = data[start:].replace(b"\\\\", b"").replace(b'\\"', b"")
    if b'"' not in rest:
        return None
    match = _TEXT_END.match(data, start)
    return None if match is None else match.end()
