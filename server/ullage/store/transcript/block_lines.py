"""Lines of bytes that are read in blocks, from either end and never held as a whole."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator

from ullage.core.transcript.entries import MAX_HELD_BYTES, Line
from ullage.core.transcript.line_ends import find_line_end, find_line_start


class BlockLines(ABC):
    """Lines of bytes that are read in blocks, from either end."""

    def forward(self, start: int = 0) -> Iterator[Line]:
        """Yield the lines from the one that begins at `start` on."""
        offset = block_start = start
        held = _PartialLine()
        for block in self._blocks_forward(start):
            begin = 0
            while begin < len(block):
                end = block.find(b"\n") + 1 if held.n_bytes else find_line_end(block, begin)
                if not end:
                    break
                raw = block[begin:end]
                if held.n_bytes:
                    held.add_behind(raw)
                    raw = held.take()
                yield Line(offset, raw)
                begin = end
                offset = block_start + begin
            held.add_behind(block[begin:])
            block_start += len(block)
        if held.n_bytes:
            yield Line(offset, held.take())

    def backward(self) -> Iterator[Line]:
        """Yield the lines from the last to the first; a long line is joined from its blocks."""
        held = _PartialLine()
        for start, block in self._blocks_backward():
            stop = len(block)
            while begin := _line_start(block, stop, stop + held.n_bytes, is_first=start == 0):
                raw = block[begin:stop]
                if held.n_bytes:
                    held.add_before(raw)
                    raw = held.take()
                yield Line(start + begin, raw)
                stop = begin
            held.add_before(block[:stop])
        if held.n_bytes:
            yield Line(0, held.take())

    @abstractmethod
    def _blocks_forward(self, start: int) -> Iterator[bytes]:
        """Read the blocks from a place on, each behind the last."""

    @abstractmethod
    def _blocks_backward(self) -> Iterator[tuple[int, bytes]]:
        """Read the blocks from the last to the first, each with its place."""


class _PartialLine:
    """The pieces of one line, of which no more than a bounded beginning is kept.

    A longer line is given as its beginning and its line end: enough to tell its place, too
    little to be taken for whole.
    """

    def __init__(self) -> None:
        self.n_bytes = 0
        """Length of the line so far, including what is not kept."""
        self._pieces: deque[bytes] = deque()
        self._n_kept = 0
        self._is_ended = False

    def add_behind(self, piece: bytes) -> None:
        self.n_bytes += len(piece)
        self._is_ended = piece.endswith(b"\n")
        if self._n_kept < MAX_HELD_BYTES:
            self._pieces.append(piece)
            self._n_kept += len(piece)

    def add_before(self, piece: bytes) -> None:
        if not self.n_bytes:
            self._is_ended = piece.endswith(b"\n")
        self.n_bytes += len(piece)
        self._pieces.appendleft(piece)
        self._n_kept += len(piece)
        while len(self._pieces) > 1 and self._n_kept - len(self._pieces[-1]) >= MAX_HELD_BYTES:
            self._n_kept -= len(self._pieces.pop())

    def take(self) -> bytes:
        """Give the line and begin a new one."""
        if self._n_kept < self.n_bytes and self._is_ended:
            self._pieces.append(b"\n")
        raw = b"".join(self._pieces)
        self.n_bytes = self._n_kept = 0
        self._pieces.clear()
        return raw


def _line_start(block: bytes, stop: int, end: int, *, is_first: bool) -> int:
    """Find where a line begins of which the part up to `stop` stands in a block; 0 where before.

    It ends at `end`, which may be behind the block.
    """
    if end > stop:
        return block.rfind(b"\n", 0, min(stop, end - 1)) + 1
    start = find_line_start(block, stop)
    # The first line of a block may begin before it, and then is not blank.
    return start or (0 if is_first else block.find(b"\n", 0, stop - 1) + 1)
