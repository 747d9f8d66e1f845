"""The metadata line of S4 §27.4.2: what another program noted of a session's memory flushes.

It stands anywhere in a file of the specifications' formats, has no place in the tree, and is read
alone: Ullage keeps its own note in the state folder.
"""

from ullage.core.transcript.entries import Header, Lines
from ullage.core.transcript.message import JsonObject
from ullage.formats.json_line import decode_object, int_of, text_of

_COUNT = "memoryFlushCompactionCount"
MAX_BYTES = 16 * 1024 * 1024
"""How far from its end a file is searched: the live part of any session (chosen)."""


def is_meta(native: JsonObject) -> bool:
    return native.get("type") == "meta" and text_of(native, "id") is None


def read_flush_epoch(lines: Lines, header: Header) -> int | None:
    """Give the epoch of the last flush by the session's own record; None where there was none.

    A count of 0 is what S4 begins with, so that it tells of no flush.
    """
    if header.agent != "openclaw" or not header.dialect:
        return None
    for line in lines.backward():
        if lines.size_bytes - line.offset > MAX_BYTES:
            return None
        if _COUNT.encode() not in line.raw:
            continue
        native = decode_object(line)
        if not isinstance(native, str) and is_meta(native):
            return int_of(native, _COUNT) or None
    return None
