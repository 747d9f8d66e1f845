"""Lines of a pi session file as entries, in the shape of version 3."""

import re
from collections.abc import Iterator

import msgspec

from ullage.core.transcript.entries import Entry, Header, Line, Lines, Problem
from ullage.core.transcript.message import JsonObject
from ullage.formats.agents.openclaw.dialects import (
    DIALECT_VERSIONS,
    FLAT,
    FLAT_VERSION,
    events_header,
    in_pi_shape,
    is_flat,
)
from ullage.formats.json_line import (
    MAX_LINE_BYTES,
    decode_object,
    int_of,
    is_blank,
    object_of,
    read_object,
    text_of,
)

MAX_HEADER_BYTES = 1024 * 1024
"""pi 0.87.1 looks no further for the header (MAX_SESSION_HEADER_SCAN_BYTES)."""


class Stub(msgspec.Struct, kw_only=True, rename="camel"):
    """The fields that make the tree; reading only these is six times as fast as all."""

    type: str = ""
    id: str | None = None
    parent_id: str | None = None
    timestamp: str | None = None
    append_mode: str | None = None


_HEAD = re.compile(
    rb'\{"type":"(\w{1,40})","id":"([\w-]{1,64})","parentId":(?:"([\w-]{1,64})"|null),'
)
"""How pi begins an entry: enough to go on along the path through a line that is too long."""
_FLUSH_COUNT = "memoryFlushCompactionCount"
MAX_META_BYTES = 16 * 1024 * 1024
"""How far from its end a file is searched: the live part of any session (chosen)."""
_decode_stub = msgspec.json.Decoder(Stub).decode


def read_header(lines: Lines) -> Header | None:
    """Read the header: the first line that parses must be a session with an id.

    Event files have none and are told by their first event, flat files by their first message.
    """
    header: Header | None = None
    for line in lines.forward():
        if line.offset > MAX_HEADER_BYTES:
            return header
        native = decode_object(line)
        if isinstance(native, str):
            continue
        if header is not None:
            if native.get("type") == "message":
                is_other = is_flat(native)
                return msgspec.structs.replace(header, dialect=FLAT) if is_other else header
            continue
        header = _header_of(native)
        if header is None or header.version != FLAT_VERSION:
            return header
    return header


def _header_of(native: JsonObject) -> Header | None:
    session_id = text_of(native, "id")
    if native.get("type") != "session" or session_id is None:
        return events_header(native)
    return Header(
        agent="openclaw",
        session_id=session_id,
        version=int_of(native, "version") or 1,
        cwd=text_of(native, "cwd"),
    )


def read_stub(line: Line) -> Stub | Problem | None:
    """Read a line's place in the tree; None for blank lines, headers and metadata."""
    if is_blank(line):
        return None
    try:
        stub = _decode_stub(line.raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        native = decode_object(line)
        if isinstance(native, str):
            head = _HEAD.match(line.raw) if len(line.raw) > MAX_LINE_BYTES else None
            if head is None:
                return Problem(offset=line.offset, message=native)
            return Stub(
                type=head[1].decode(),
                id=head[2].decode(),
                parent_id=head[3].decode() if head[3] else None,
            )
        stub = Stub(
            type=text_of(native, "type") or "",
            id=text_of(native, "id"),
            parent_id=text_of(native, "parentId"),
            timestamp=text_of(native, "timestamp"),
            append_mode=text_of(native, "appendMode"),
        )
    # Metadata would be a leaf without a parent, and hide the whole session.
    is_meta_line = stub.type == "meta" and stub.id is None
    return None if stub.type == "session" or is_meta_line else stub


def read_entry(line: Line, version: int = 3) -> Entry | Problem | None:
    """Read a line whole; None for blank lines, headers and metadata."""
    native = read_object(line)
    if not isinstance(native, dict):
        return native
    kind = text_of(native, "type") or ""
    if kind == "session" or _is_meta(native):
        return None
    if version in DIALECT_VERSIONS:
        native = in_pi_shape(native)
    if version < 3 and kind == "message":
        message = object_of(native, "message")
        if message is not None and message.get("role") == "hookMessage":
            native = native | {"message": message | {"role": "custom"}}
    return Entry(
        entry_id=text_of(native, "id") or "",
        parent_id=text_of(native, "parentId") or None,
        kind=kind,
        offset=line.offset,
        size_bytes=len(line.raw),
        native=native,
    )


def linear_entries(lines: Lines) -> Iterator[Entry | Problem]:
    """Read a version 1 file, which has no ids: number its lines and chain them.

    pi gives random ids when it migrates such a file; ours are the position, in hexadecimal.
    """
    ids: list[str | None] = []
    parent_id: str | None = None
    for line in lines.forward():
        if is_blank(line):
            continue
        entry = read_entry(line, version=1)
        if isinstance(entry, Problem):
            yield entry
            continue
        ids.append(None if entry is None else f"{len(ids):08x}")
        if entry is None:
            continue
        native = entry.native
        kept_index = int_of(native, "firstKeptEntryIndex")
        if entry.kind == "compaction" and kept_index is not None and 0 <= kept_index < len(ids):
            native = native | {"firstKeptEntryId": ids[kept_index]}
        entry_id = f"{len(ids) - 1:08x}"
        yield msgspec.structs.replace(entry, entry_id=entry_id, parent_id=parent_id, native=native)
        parent_id = entry_id


def read_flush_epoch(lines: Lines, header: Header) -> int | None:
    """Give the epoch of the last flush by the session's own record; None where there was none.

    Another program writes it (docs/design/sessions.md, "Flush metadata"): a line of metadata,
    anywhere in a file of a dialect. It begins with a count of 0, which tells of no flush.
    """
    if not header.dialect:
        return None
    for line in lines.backward():
        if lines.size_bytes - line.offset > MAX_META_BYTES:
            return None
        if _FLUSH_COUNT.encode() not in line.raw:
            continue
        native = decode_object(line)
        if not isinstance(native, str) and _is_meta(native):
            return int_of(native, _FLUSH_COUNT) or None
    return None


def _is_meta(native: JsonObject) -> bool:
    return native.get("type") == "meta" and text_of(native, "id") is None
