"""Where lines begin and end; blank lines that follow each other are one.

They say nothing, and one by one a file that is full of them would take minutes. Lines end at LF
alone: U+2028 and its kin are legal inside a JSON line.
"""

import re

_BLANK = b" \t\r\n"
_BLANK_LINES = re.compile(rb"(?:[ \t\r]*+\n)++")
_PROBE_BYTES = 64
"""Looked at first for where blank lines begin, and then twice as much (chosen)."""


def find_line_end(data: bytes, start: int) -> int:
    """Find the end of the line that begins at `start`; 0 where it is not there yet."""
    if data[start] in _BLANK and (blank := _BLANK_LINES.match(data, start)):
        return blank.end()
    return data.find(b"\n", start) + 1


def find_line_start(data: bytes, end: int) -> int:
    """Find the beginning of the line that ends at `end`."""
    start = data.rfind(b"\n", 0, end - 1) + 1
    is_whole = data[end - 1 : end] == b"\n"
    if not is_whole or data[start] not in _BLANK or data[start:end].strip(_BLANK):
        return start
    n_bytes = _PROBE_BYTES
    while start:
        probed = max(0, start - n_bytes)
        text = data[probed:start].rstrip(_BLANK)
        if text:
            return data.find(b"\n", probed + len(text)) + 1
        start = probed
        n_bytes *= 2
    return 0
