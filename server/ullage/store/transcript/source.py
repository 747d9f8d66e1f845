"""Where the lines of a session come from: a file, a packed file, a database."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from ullage.core.transcript.entries import Line, Lines, MemoryLines
from ullage.errors import Unreadable
from ullage.store.transcript.reader import FileLines, look_at, open_to_read

MAX_UNPACKED_BYTES = 512 * 1024 * 1024
"""A packed session is unpacked whole; more than this is no session (chosen)."""


class Source(Lines, Protocol):
    """The lines of a session as they were when it was looked at."""

    path: Path

    @property
    def written_ns(self) -> int:
        """When the session was written to last, in nanoseconds since 1970."""
        ...

    def is_current(self) -> bool:
        """Tell whether nothing was written since.

        Raises:
            Unreadable: it is gone.
        """
        ...


class PackedLines:
    """The lines of a file that is packed with zstd, which is read as a whole."""

    def __init__(self, path: Path) -> None:
        """Unpack a file.

        Raises:
            Unreadable: it is missing, not ours to read, or damaged.
        """
        from ullage.store.files.zstd import unpack

        self.path = path
        self._fingerprint = look_at(path)
        with open_to_read(path) as file:
            data = unpack(file.readall(), MAX_UNPACKED_BYTES)
        if data is None:
            raise Unreadable(f"{path} is not a whole zstd file: name the session's .jsonl file")
        self._lines = MemoryLines(data)

    @property
    def size_bytes(self) -> int:
        return self._lines.size_bytes

    @property
    def written_ns(self) -> int:
        return self._fingerprint.mtime_ns

    def is_current(self) -> bool:
        return look_at(self.path) == self._fingerprint

    def forward(self, start: int = 0) -> Iterator[Line]:
        return self._lines.forward(start)

    def backward(self) -> Iterator[Line]:
        return self._lines.backward()


class NoLines:
    """The lines of a session whose messages its runtime holds: none are read from a file."""

    size_bytes = 0
    written_ns = 0

    def __init__(self, path: Path) -> None:
        self.path = path

    def is_current(self) -> bool:
        return True

    def forward(self, start: int = 0) -> Iterator[Line]:
        del start
        return iter(())

    def backward(self) -> Iterator[Line]:
        return iter(())


def open_file(path: Path) -> FileLines | PackedLines:
    """Open a transcript, packed or not.

    Raises:
        Unreadable: the file cannot be read.
        NotATranscript: it is empty.
    """
    return PackedLines(path) if path.suffix == ".zst" else FileLines(path)
