"""Transcripts that are packed with zstd, unpacked as they are read and never held whole."""

from collections import deque
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from ullage.errors import Unreadable
from ullage.store.files.zstd import Damaged, unpack_blocks
from ullage.store.transcript.block_lines import BlockLines
from ullage.store.transcript.reader import BLOCK_BYTES, look_at, read_blocks_of

MAX_UNPACKED_BYTES = 1024**3
"""More than this is no session: 136 KB can unpack to 4 GB (chosen)."""
MAX_BLOCKS = 128
"""Held to be read backwards, 32 MB; what stands before them is unpacked once more (chosen)."""


class PackedLines(BlockLines):
    """The lines of a file that is one zstd frame."""

    def __init__(self, path: Path) -> None:
        """Look at a file.

        Raises:
            Unreadable: it is missing or not ours to read. So may be whatever is read of it, where
                it is damaged or unpacks to too much.
        """
        self.path = path
        self._fingerprint = look_at(path)
        self._size_bytes: int | None = None

    @property
    def size_bytes(self) -> int:
        if self._size_bytes is None:
            self._size_bytes = sum(len(block) for _, block in self._unpack())
        return self._size_bytes

    @property
    def written_ns(self) -> int:
        return self._fingerprint.mtime_ns

    def is_current(self) -> bool:
        return look_at(self.path) == self._fingerprint

    def _blocks_forward(self, start: int) -> Iterator[bytes]:
        for at, block in self._unpack():
            if at + len(block) > start:
                yield block[max(0, start - at) :]

    def _blocks_backward(self) -> Iterator[tuple[int, bytes]]:
        end = MAX_UNPACKED_BYTES
        while end:
            last = deque(
                takewhile(lambda placed, end=end: placed[0] < end, self._unpack()), MAX_BLOCKS
            )
            end = last[0][0] if last else 0
            while last:
                yield last.pop()

    def _unpack(self) -> Iterator[tuple[int, bytes]]:
        """Unpack the file in blocks, each with its place, and refuse it once it is too much."""
        at = 0
        try:
            for block in unpack_blocks(read_blocks_of(self.path), BLOCK_BYTES):
                if at + len(block) > MAX_UNPACKED_BYTES:
                    raise Unreadable(
                        f"cannot read {self.path}: it unpacks to more than"
                        f" {MAX_UNPACKED_BYTES // 1024**3} GB, as no session does. Name another"
                    )
                yield at, block
                at += len(block)
        except Damaged:
            raise Unreadable(
                f"{self.path} is not a whole zstd file: name the session's .jsonl file"
            ) from None
