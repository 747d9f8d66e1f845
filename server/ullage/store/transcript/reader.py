"""Transcripts on disk, read in blocks from either end and never held open."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Protocol

import msgspec

from ullage.core.text.digest import sha256
from ullage.core.transcript.entries import Line, Lines, MemoryLines
from ullage.errors import NotATranscript, Unreadable
from ullage.store.transcript.block_lines import BlockLines

BLOCK_BYTES = 256 * 1024
"""Read at a time: large enough that the calls cost nothing beside the copying (measured)."""

QUIET_S = 5.0
"""A transcript that grew within this time counts as in use: docs/safety.md, "When a session is in
use"."""
PROBE_BYTES = 4096
"""How much of the head, and before a place, tells a file from another (chosen)."""


class Fingerprint(msgspec.Struct, frozen=True, kw_only=True):
    """What tells that a file is still the one that was read."""

    device: int
    inode: int
    size_bytes: int
    mtime_ns: int


class SessionLines(Lines, Protocol):
    """The lines of a session as they were when it was looked at."""

    path: Path

    @property
    def written_ns(self) -> int:
        """When the session was written to last, in nanoseconds since 1970."""
        ...

    def is_current(self) -> bool:
        """Whether nothing was written since.

        Raises:
            Unreadable: it is gone.
        """
        ...


class FileLines(BlockLines):
    """The lines of a file up to the size that it had when it was looked at."""

    def __init__(self, path: Path) -> None:
        """Look at a file.

        Raises:
            Unreadable: it is missing, no regular file, or not ours to read.
            NotATranscript: it is empty.
        """
        self.path = path
        self.fingerprint = look_at(path)
        if self.fingerprint.size_bytes == 0:
            raise NotATranscript(f"{path} is empty: name a transcript that an agent has written to")

    @property
    def size_bytes(self) -> int:
        return self.fingerprint.size_bytes

    @property
    def written_ns(self) -> int:
        return self.fingerprint.mtime_ns

    def is_current(self) -> bool:
        return look_at(self.path) == self.fingerprint

    def read_line(self, offset: int, size_bytes: int) -> Line:
        with open_to_read(self.path) as file:
            return Line(offset, _read(file, offset, size_bytes, self.path))

    def digests(self, end: int) -> tuple[str, str]:
        """Give the SHA-256 of the file's head and of what stands before a place in it."""
        start = max(0, end - PROBE_BYTES)
        head = self.read_line(0, min(PROBE_BYTES, end)).raw
        tail = self.read_line(start, end - start).raw
        return sha256(head).hexdigest(), sha256(tail).hexdigest()

    def _blocks_forward(self, start: int) -> Iterator[bytes]:
        return self._read_blocks(range(start, self.size_bytes, BLOCK_BYTES))

    def _blocks_backward(self) -> Iterator[tuple[int, bytes]]:
        last = (self.size_bytes - 1) // BLOCK_BYTES * BLOCK_BYTES
        starts = range(last, -1, -BLOCK_BYTES)
        return zip(starts, self._read_blocks(starts), strict=True)

    def _read_blocks(self, starts: range) -> Iterator[bytes]:
        with open_to_read(self.path) as file:
            for start in starts:
                n_bytes = min(BLOCK_BYTES, self.size_bytes - start)
                yield _read(file, start, n_bytes, self.path)


class FirstLines(FileLines):
    """The lines of a file before one of them, as if nothing had been written since."""

    def __init__(self, lines: FileLines, end: int) -> None:
        self.path = lines.path
        self.fingerprint = lines.fingerprint
        self._end = end

    @property
    def size_bytes(self) -> int:
        return self._end


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


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """Where the reading of a file stopped, and what stood there."""

    fingerprint: Fingerprint
    offset: int
    digests: tuple[str, str]


class Appended(msgspec.Struct, frozen=True, kw_only=True):
    """What was written to a file behind a mark."""

    lines: tuple[Line, ...]
    """Whole lines."""
    unfinished: Line | None
    """What stands behind them; it is given again until its end is written."""
    mark: Mark
    source: FileLines


def mark_at(lines: FileLines, offset: int) -> Mark:
    """Remember a place in a file; reads two small blocks."""
    return Mark(fingerprint=lines.fingerprint, offset=offset, digests=lines.digests(offset))


def read_appended(path: Path, mark: Mark) -> Appended | None:
    """Read what follows a mark; None where the file shrank, was replaced or rewritten.

    Raises:
        Unreadable: the file is gone or not ours to read.
        NotATranscript: it is empty.
    """
    lines = FileLines(path)
    now, then = lines.fingerprint, mark.fingerprint
    if (now.device, now.inode) != (then.device, then.inode) or now.size_bytes < mark.offset:
        return None
    if lines.digests(mark.offset) != mark.digests:
        return None
    rest = lines.read_line(mark.offset, now.size_bytes - mark.offset).raw
    end = rest.rfind(b"\n") + 1
    torn = rest[end:]
    return Appended(
        lines=tuple(
            Line(mark.offset + line.offset, line.raw) for line in MemoryLines(rest[:end]).forward()
        ),
        unfinished=Line(mark.offset + end, torn) if torn else None,
        mark=mark_at(lines, mark.offset + end),
        source=lines,
    )


def look_at(path: Path) -> Fingerprint:
    """Take the fingerprint of a regular file.

    Raises:
        Unreadable: it is missing or no regular file.
    """
    try:
        status = path.stat()
    except ValueError:
        raise Unreadable("no file can have such a name: it has a null character") from None
    except OSError as error:
        raise _unreadable(path, error) from None
    if stat.S_ISDIR(status.st_mode):
        raise Unreadable(
            f"{path} is a folder: name a transcript in it, or run Ullage in a project's folder"
        )
    if not stat.S_ISREG(status.st_mode):
        raise Unreadable(f"{path} is not a regular file: name a transcript that an agent wrote")
    return fingerprint_of(status)


def fingerprint_of(status: os.stat_result) -> Fingerprint:
    return Fingerprint(
        device=status.st_dev,
        inode=status.st_ino,
        size_bytes=status.st_size,
        mtime_ns=status.st_mtime_ns,
    )


class _ReadFile(FileIO):
    """A file whose end tells nothing: what was read is whole, though a network has a fault then."""

    def close(self) -> None:
        with suppress(OSError):
            super().close()


def open_to_read(path: Path) -> FileIO:
    """Open a file unbuffered for reading.

    Raises:
        Unreadable: the system does not let us.
    """
    try:
        return _ReadFile(path)
    except OSError as error:
        raise _unreadable(path, error) from None


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """Read a regular file up to a number of bytes.

    Raises:
        Unreadable: it is missing, no regular file, or not ours to read.
    """
    look_at(path)
    pieces: list[bytes] = []
    rest = max_bytes
    for block in read_blocks_of(path):
        pieces.append(block[:rest])
        rest -= len(pieces[-1])
        if not rest:
            break
    return b"".join(pieces)


def read_blocks_of(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file to its end.

    Raises:
        Unreadable: it is not ours to read.
    """
    try:
        with open_to_read(path) as file:
            while block := file.read(BLOCK_BYTES):
                yield block
    except OSError as error:
        raise _unreadable(path, error) from None


def read_blocks(fd: int, start: int, end: int) -> Iterator[bytes]:
    """Yield the bytes of a range, which may be longer than memory."""
    while start < end and (block := read_at(fd, start, min(BLOCK_BYTES, end - start))):
        yield block
        start += len(block)


def read_at(fd: int, offset: int, n_bytes: int) -> bytes:
    """Read a number of bytes at an offset, fewer only at the end of the file."""
    os.lseek(fd, offset, os.SEEK_SET)
    pieces: list[bytes] = []
    while n_bytes and (piece := os.read(fd, n_bytes)):
        pieces.append(piece)
        n_bytes -= len(piece)
    return b"".join(pieces)


def _read(file: FileIO, offset: int, n_bytes: int, path: Path) -> bytes:
    """Read exactly this many bytes; fewer mean that the file shrank meanwhile."""
    try:
        file.seek(offset)
        data = file.read(n_bytes)
        while len(data) < n_bytes:
            more = file.read(n_bytes - len(data))
            if not more:
                raise Unreadable(f"{path} became shorter while it was read: try again")
            data += more
    except OSError as error:
        raise _unreadable(path, error) from None
    return data


def _unreadable(path: Path, error: OSError) -> Unreadable:
    if isinstance(error, FileNotFoundError):
        return Unreadable(f"{path} does not exist: name a transcript or a session id")
    reason = error.strerror or type(error).__name__
    return Unreadable(f"cannot read {path}: {reason}. Check the file's permissions")
