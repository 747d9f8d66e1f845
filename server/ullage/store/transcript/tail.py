"""What was appended to a transcript since it was read, if it is still the same file."""

import hashlib
from pathlib import Path

import msgspec

from ullage.core.transcript.entries import Line, MemoryLines
from ullage.store.transcript.reader import FileLines, Fingerprint

PROBE_BYTES = 4096
"""How much of the head, and before the end, tells a file from another (D22)."""


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """Where the reading of a file stopped, and what stood there."""

    fingerprint: Fingerprint
    offset: int
    head_sha256: str
    tail_sha256: str


class Appended(msgspec.Struct, frozen=True, kw_only=True):
    lines: tuple[Line, ...]
    """Whole lines."""
    unfinished: Line | None
    """What stands behind them; it is given again until its end is written."""
    mark: Mark
    source: FileLines


def mark_at(lines: FileLines, offset: int) -> Mark:
    """Remember a place in a file; reads two small blocks."""
    head, tail = _probes(lines, offset)
    return Mark(fingerprint=lines.fingerprint, offset=offset, head_sha256=head, tail_sha256=tail)


def read_appended(path: Path, mark: Mark) -> Appended | None:
    """Read what follows a mark; None where the file shrank, was replaced or rewritten.

    Raises:
        Unreadable: the file is gone or not ours to read.
        NotATranscript: it is empty.
    """
    lines = FileLines(path)
    found, seen = lines.fingerprint, mark.fingerprint
    if (found.device, found.inode) != (seen.device, seen.inode):
        return None
    if found.size_bytes < mark.offset:
        return None
    if _probes(lines, mark.offset) != (mark.head_sha256, mark.tail_sha256):
        return None
    rest = lines.read_line(mark.offset, found.size_bytes - mark.offset).raw
    whole = rest[: rest.rfind(b"\n") + 1]
    end = mark.offset + len(whole)
    torn = rest[len(whole) :]
    shifted = tuple(
        Line(mark.offset + line.offset, line.raw) for line in MemoryLines(whole).forward()
    )
    return Appended(
        lines=shifted,
        unfinished=Line(end, torn) if torn else None,
        mark=mark_at(lines, end),
        source=lines,
    )


def _probes(lines: FileLines, offset: int) -> tuple[str, str]:
    start = max(0, offset - PROBE_BYTES)
    head = lines.read_line(0, min(PROBE_BYTES, offset)).raw
    tail = lines.read_line(start, offset - start).raw
    return hashlib.sha256(head).hexdigest(), hashlib.sha256(tail).hexdigest()
