"""Transcripts as they will be once a change is made, read like those on disk."""

from collections.abc import Iterator
from itertools import dropwhile, takewhile

import msgspec

from ullage.core.change.edit import Append, FileChange, LineChange, NewSession, Rewrite
from ullage.core.transcript.entries import Line, Lines, MemoryLines


def changed_lines(base: Lines, change: FileChange) -> Lines:
    """Give the lines of the file that a change leads to."""
    match change:
        case Append():
            return AppendedLines(base, change.data)
        case Rewrite():
            return AppendedLines(RewrittenLines(base, change.changes), change.appended)
        case NewSession():
            return MemoryLines(change.data)


class AppendedLines(msgspec.Struct, frozen=True):
    """A transcript as it will be once some bytes are appended."""

    base: Lines
    appended: bytes
    """Whole lines; begins with a line end where the base's last line has none."""

    @property
    def size_bytes(self) -> int:
        return self.base.size_bytes + len(self.appended)

    def forward(self, start: int = 0) -> Iterator[Line]:
        n_base = self.base.size_bytes
        if start < n_base:
            yield from self.base.forward(start)
        for line in MemoryLines(self.appended).forward(max(0, start - n_base)):
            yield Line(n_base + line.offset, line.raw)

    def backward(self) -> Iterator[Line]:
        for line in MemoryLines(self.appended).backward():
            yield Line(self.base.size_bytes + line.offset, line.raw)
        yield from self.base.backward()


class LinesBefore(msgspec.Struct, frozen=True):
    """A transcript as it was when it was shorter."""

    base: Lines
    size_bytes: int
    """Where it ended, at the end of a line."""

    def forward(self, start: int = 0) -> Iterator[Line]:
        return takewhile(lambda line: line.offset < self.size_bytes, self.base.forward(start))

    def backward(self) -> Iterator[Line]:
        return dropwhile(lambda line: line.offset >= self.size_bytes, self.base.backward())


class RewrittenLines(msgspec.Struct, frozen=True):
    """A transcript as it will be once some of its lines are replaced."""

    base: Lines
    changes: tuple[LineChange, ...]
    """In the order of their offsets."""

    @property
    def size_bytes(self) -> int:
        return self.base.size_bytes + sum(_growth(change) for change in self.changes)

    def forward(self, start: int = 0) -> Iterator[Line]:
        """Yield the lines from the one that begins at `start` of the rewritten file on."""
        n_grown = 0
        ahead = 0
        while ahead < len(self.changes):
            change = self.changes[ahead]
            if change.offset + n_grown >= start:
                break
            n_grown += _growth(change)
            ahead += 1
        at = {change.offset: change for change in self.changes[ahead:]}
        for line in self.base.forward(start - n_grown):
            change = at.get(line.offset)
            raw = line.raw if change is None else change.new
            if raw:
                yield Line(line.offset + n_grown, raw)
            n_grown += 0 if change is None else _growth(change)

    def backward(self) -> Iterator[Line]:
        at = {change.offset: change for change in self.changes}
        n_grown = sum(_growth(change) for change in self.changes)
        for line in self.base.backward():
            change = at.get(line.offset)
            n_grown -= 0 if change is None else _growth(change)
            raw = line.raw if change is None else change.new
            if raw:
                yield Line(line.offset + n_grown, raw)


def _growth(change: LineChange) -> int:
    return len(change.new) - len(change.old)
