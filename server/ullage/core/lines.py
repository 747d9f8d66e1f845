"""Lines that are not on disk yet, behind those that are."""

from collections.abc import Iterator

import msgspec

from ullage.core.transcript import Line, Lines, MemoryLines


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
