"""Messages too large to parse on the loop: long texts are taken out while they are read.

Editors send the whole text of a document that they open, and a transcript of 60 MB would hold
the loop for a second. We read transcripts from disk, so nothing is lost. `LongTexts` works on
pieces, with no stream: bytes in, bytes out, whatever the pieces are.
"""

import re
from collections.abc import Callable
from typing import Final

import msgspec

PIECE_BYTES: Final = 256 * 1024
"""Read at a time; a look at one takes the interpreter for less than a millisecond."""
MAX_TEXT_BYTES: Final = 64 * 1024
"""A longer text is emptied (chosen): no other field of a document is as long."""
NEAR_BYTES: Final = 4096
"""Where the end of a text is looked for before all of a piece is looked through (chosen)."""
_TEXT_METHODS = frozenset(("textDocument/didOpen", "textDocument/didSave"))
"""Notifications with the text of a document."""
_TEXT_END = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


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
    found = _TEXT_END.match(data, start, start + NEAR_BYTES)
    if found is not None:
        return found.end()
    rest = data[start:].replace(b"\\\\", b"").replace(b'\\"', b"")
    if b'"' not in rest:
        return None
    found = _TEXT_END.match(data, start)
    return None if found is None else found.end()
