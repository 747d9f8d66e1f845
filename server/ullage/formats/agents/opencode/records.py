"""Lines of an opencode session as entries: the session itself, then its messages."""

import msgspec

from ullage.core.transcript.entries import Entry, Header, Line, Lines, Problem
from ullage.core.transcript.message import JsonObject
from ullage.formats import json_line
from ullage.formats.reading import make_entry

NOT_A_MESSAGE = "line is not a message of opencode"


class Revert(msgspec.Struct, frozen=True, kw_only=True):
    """Where a user went back to: opencode removes what follows before its next request."""

    message_id: str
    part_id: str | None


def read_header(lines: Lines) -> Header | None:
    """Recognize a session by its first line, which holds the session's row."""
    session = _session_of(lines)
    session_id = None if session is None else json_line.text_of(session, "id")
    if session is None or session_id is None:
        return None
    return Header(
        agent="opencode",
        session_id=session_id,
        version=0,
        cwd=json_line.text_of(session, "directory"),
        parent_session_id=json_line.text_of(session, "parent_id"),
    )


def read_revert(lines: Lines) -> Revert | None:
    session = _session_of(lines) or {}
    text = json_line.text_of(session, "revert")
    revert = (
        json_line.object_of(session, "revert")
        if text is None
        else json_line.as_object(json_line.decode_object(Line(0, text.encode("utf-8", "replace"))))
    )
    message_id = None if revert is None else json_line.text_of(revert, "messageID")
    if revert is None or message_id is None:
        return None
    return Revert(message_id=message_id, part_id=json_line.text_of(revert, "partID"))


def read_entry(line: Line) -> Entry | Problem | None:
    """Read a message; None for blank lines and the session's own."""
    native = json_line.read_object(line)
    if not isinstance(native, dict):
        return native
    info = json_line.object_of(native, "info")
    if info is None:
        is_session = json_line.object_of(native, "session") is not None
        return None if is_session else Problem(offset=line.offset, message=NOT_A_MESSAGE)
    return make_entry(
        line,
        native,
        entry_id=json_line.text_of(info, "id"),
        kind=json_line.text_of(info, "role") or "",
        parent_id=json_line.text_of(info, "parentID"),
    )


def without_reverted(entry: Entry, revert: Revert | None) -> Entry | None:
    """Apply a revert; ids grow with time, and opencode too compares them as text."""
    if revert is None or entry.entry_id < revert.message_id:
        return entry
    parts = parts_of(entry)
    ids = [json_line.text_of(part, "id") for part in parts]
    if entry.entry_id > revert.message_id or revert.part_id is None:
        return None
    n_kept = ids.index(revert.part_id) if revert.part_id in ids else len(parts)
    return msgspec.structs.replace(entry, native=entry.native | {"parts": list(parts[:n_kept])})


def info_of(entry: Entry) -> JsonObject:
    return json_line.object_of(entry.native, "info") or {}


def parts_of(entry: Entry) -> tuple[JsonObject, ...]:
    return json_line.objects_of(entry.native, "parts")


def created_ms(entry: Entry) -> int | None:
    return json_line.int_of(json_line.object_of(info_of(entry), "time") or {}, "created")


def compaction_part(entry: Entry) -> JsonObject | None:
    """Give the part by which a user's message asks for a compaction."""
    if entry.kind != "user":
        return None
    return next((part for part in parts_of(entry) if part.get("type") == "compaction"), None)


def is_summary(entry: Entry) -> bool:
    """Whether a message is the summary of a compaction that came to its end."""
    info = info_of(entry)
    return (
        entry.kind == "assistant"
        and info.get("summary") is True
        and bool(info.get("finish"))
        and not info.get("error")
    )


def _session_of(lines: Lines) -> JsonObject | None:
    first = next(lines.forward(), None)
    native = None if first is None else json_line.decode_object(first)
    return (
        None
        if native is None or isinstance(native, str)
        else json_line.object_of(native, "session")
    )
