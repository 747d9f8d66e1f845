"""Blank lines that follow each other, which some readers give as one and others as a few."""

from collections.abc import Iterable

from ullage.core.transcript.entries import Line


def joined(lines: Iterable[Line]) -> list[Line]:
    """Join the blank lines that follow each other, given in the order of the file."""
    whole: list[Line] = []
    for line in lines:
        is_more = whole and is_blank_line(whole[-1]) and is_blank_line(line)
        whole.append(Line(whole[-1].offset, whole.pop().raw + line.raw) if is_more else line)
    return whole


def is_blank_line(line: Line) -> bool:
    return not line.is_torn and not line.raw.strip(b" \t\r\n")
