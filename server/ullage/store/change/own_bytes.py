"""Which bytes at the end of a transcript are ours, after an append that was interrupted.

The journal holds what we meant to write and where. An agent may have gone on behind a part of
it, on the same line, and records begin alike: where ours ends is told by what then parses. A
line that parses is never touched.
"""

import os
import re
from typing import Literal, TypeAlias

import msgspec

from ullage.store.change.journal import AppendIntent
from ullage.store.change.session_lock import OpenTranscript
from ullage.store.files.atomic import write_all
from ullage.store.transcript.reader import read_at

Outcome: TypeAlias = Literal["absent", "whole", "withdrawn", "unclear"]
"""Of our lines: none is there, all are, those that were torn are gone, or no one can tell."""

_BLANK = ord(" ")
_LINE_END = ord("\n")


def settle(file: OpenTranscript, intent: AppendIntent) -> Outcome:
    """Finish or take back what an interrupted append left; doing it again does nothing.

    Raises:
        OSError: the disk does not take it; what is there can be settled later.
    """
    end = os.lseek(file.fd, 0, os.SEEK_END)
    tail = read_at(file.fd, intent.offset, max(0, end - intent.offset))
    if tail.startswith(intent.data):
        return "whole"
    outcome = _settle_at(file, _Place(offset=intent.offset, data=intent.data, there=tail))
    if outcome != "absent":
        return outcome
    # Where no lease kept others out, ours may stand behind what they wrote.
    start = tail.find(b"\n") + 1
    body = intent.data.lstrip(b"\n")
    while start:
        line_end = tail.find(b"\n", start)
        line = tail[start:] if line_end < 0 else tail[start:line_end]
        if line.strip() and not parses(line):
            place = _Place(offset=intent.offset + start, data=body, there=tail[start:])
            if (outcome := _settle_at(file, place, is_behind=True)) != "absent":
                return outcome
        start = line_end + 1
    return _settle_behind(file, intent)


class _Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where our lines may begin, and what stands there up to the end of the file."""

    offset: int
    data: bytes
    there: bytes


def _settle_at(file: OpenTranscript, place: _Place, *, is_behind: bool = False) -> Outcome:
    tail, data = place.there, place.data
    n_ours = _n_alike(tail, data)
    begin = data.rfind(b"\n", 0, n_ours) + 1
    _finish_blanking(file, place, tail[:begin])
    # Whole lines of ours stand before the last one: an agent may have read them already.
    is_begun = any(
        there.strip() and there == ours
        for there, ours in zip(tail[:begin].split(b"\n"), data[:begin].split(b"\n"), strict=True)
    )
    line_end = tail.find(b"\n", begin)
    line = tail[begin:] if line_end < 0 else tail[begin:line_end]
    is_last = line_end < 0 and len(tail) == n_ours
    if is_last and (line.strip() or is_begun):
        is_begun = is_begun or parses(line)
        return _settle_end(file, place, n_ours, is_finished=is_begun and not is_behind)
    if not line.strip() or parses(line):
        return "unclear" if is_begun else "absent"
    return _settle_merged(file, place, begin, line, n_ours)


def find_behind(fd: int, intent: AppendIntent) -> int | None:
    """Find our lines whole behind another's; None where they are not.

    Only where no lease kept others out can they stand there.
    """
    end = os.lseek(fd, 0, os.SEEK_END)
    n_before = read_at(fd, intent.offset, max(0, end - intent.offset)).find(intent.data)
    return None if n_before < 0 else intent.offset + n_before


def blank(fd: int, offset: int, ours: bytes) -> None:
    """Put blanks in the place of bytes of ours; line ends stay."""
    os.lseek(fd, offset, os.SEEK_SET)
    write_all(fd, re.sub(rb"[^\n]", b" ", ours))
    os.fsync(fd)


def _settle_end(file: OpenTranscript, place: _Place, n_ours: int, *, is_finished: bool) -> Outcome:
    """Settle what has nothing behind it."""
    if is_finished:
        _add(file, place.data[n_ours:])
        return "whole"
    if file.is_exclusive:
        os.ftruncate(file.fd, place.offset)
        os.fsync(file.fd)
    else:
        blank(file.fd, place.offset, place.data[:n_ours])
    return "withdrawn"


def _add(file: OpenTranscript, rest: bytes) -> None:
    if file.is_exclusive:
        os.lseek(file.fd, 0, os.SEEK_END)
        write_all(file.fd, rest)
        os.fsync(file.fd)
        return
    fd = os.open(file.path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
    try:
        write_all(fd, rest)
        os.fsync(fd)
    finally:
        os.close(fd)


def _settle_merged(
    file: OpenTranscript, place: _Place, begin: int, line: bytes, n_ours: int
) -> Outcome:
    """Blank a part of a line of ours to which an agent appended its own."""
    for n_torn in range(1, n_ours - begin + 1):
        if parses(line[n_torn:]):
            blank(file.fd, place.offset + begin, line[:n_torn])
            return "withdrawn"
    return "unclear" if n_ours > begin else "absent"


def _settle_behind(file: OpenTranscript, intent: AppendIntent) -> Outcome:
    at = find_behind(file.fd, intent)
    if at is None:
        return "absent"
    if at + len(intent.data) < os.lseek(file.fd, 0, os.SEEK_END):
        # Others followed: they may have been written by who had read ours.
        return "unclear"
    blank(file.fd, at, intent.data)
    return "withdrawn"


def _finish_blanking(file: OpenTranscript, place: _Place, lines: bytes) -> None:
    """Blank whole lines of ours that were blanked in part when a process was killed."""
    offset = 0
    for there in lines.split(b"\n"):
        if there.strip() and there != place.data[offset : offset + len(there)]:
            blank(file.fd, place.offset + offset, there)
        offset += len(there) + 1


def _n_alike(tail: bytes, data: bytes) -> int:
    """Count the bytes that may be ours: as we meant to write them, or blanked."""
    n_alike = 0
    for there, ours in zip(tail, data, strict=False):
        if there != ours and (there != _BLANK or ours == _LINE_END):
            break
        n_alike += 1
    return n_alike


def parses(line: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(line), dict)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
