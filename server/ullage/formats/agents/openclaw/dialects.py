"""Entries of flat files and event files, given the shape of pi's (docs/design/sessions.md).

In a flat file a message's own fields stand beside the entry's. An event file is flat and linear
besides: no header, no parents, and compactions under names of their own. Both are told by their
shape, so that a reader of pi's entries needs to know no more of them.
"""

from ullage.core.transcript.entries import Header
from ullage.core.transcript.message import JsonObject
from ullage.formats.json_line import int_of, object_of, text_of

FLAT = "flat"
"""docs/design/sessions.md, "Flat files"."""
EVENTS = "events"
"""docs/design/sessions.md, "Event files"."""
EVENTS_VERSION = 0
FLAT_VERSION = 2
"""Also pi's own second version, whose messages are in objects of their own."""
DIALECT_VERSIONS = (EVENTS_VERSION, FLAT_VERSION)
_ENTRY_FIELDS = ("type", "id", "parentId")
_MESSAGE_KINDS = ("message", "custom_message")
_LAST_SECOND = 100_000_000_000
"""Smaller numbers are seconds, not milliseconds (docs/design/sessions.md, "Event files")."""
_RENAMED = {"tokensBeforeCompaction": "tokensBefore", "tokensAfterCompaction": "tokensAfter"}
EVENT_DETAILS = ("trigger", "layer", "messagesCompacted", "customInstruction", "boundaryMessageId")


def is_flat(native: JsonObject) -> bool:
    """Whether a message's own fields stand beside the entry's."""
    return (
        text_of(native, "type") in _MESSAGE_KINDS
        and "message" not in native
        and "customType" not in native
        and ("role" in native or "content" in native)
    )


def events_header(native: JsonObject) -> Header | None:
    """Recognize a file without a header by its first event.

    The session's id is empty: only the file's name knows it.
    """
    is_message = native.get("type") == "message" and is_flat(native)
    is_compaction = native.get("type") == "compaction" and text_of(native, "summary") is not None
    if not (is_message or is_compaction) or text_of(native, "id") is None or "parentId" in native:
        return None
    return Header(agent="openclaw", session_id="", version=EVENTS_VERSION, cwd=None, dialect=EVENTS)


def in_pi_shape(native: JsonObject) -> JsonObject:
    """Put a message's fields into an object and compactions under pi's names; lose nothing."""
    if is_flat(native):
        message = {key: value for key, value in native.items() if key not in _ENTRY_FIELDS}
        message.setdefault("role", "user")
        native = {key: native[key] for key in _ENTRY_FIELDS if key in native} | {
            "timestamp": in_ms(native.get("timestamp")),
            "message": message,
        }
    elif native.get("type") == "compaction":
        renamed = {_RENAMED[key]: native[key] for key in _RENAMED if key in native}
        details = {key: native[key] for key in EVENT_DETAILS if key in native}
        native = native | renamed | {"timestamp": in_ms(native.get("timestamp"))}
        if details:
            native = native | {"details": (object_of(native, "details") or {}) | details}
    return native


def summary_message(dialect: str, boundary: JsonObject) -> JsonObject | None:
    """Give a compaction's summary as the specification of its format sends it."""
    summary = text_of(boundary, "summary") or ""
    if dialect == EVENTS:
        content = f"[Previous Context Summary]\n{summary}"
        return {"role": "user", "content": content, "timestamp": boundary.get("timestamp")}
    if dialect == FLAT:
        return {"role": "system", "content": f"[Prior conversation summary]\n{summary}"}
    return None


def in_ms(timestamp: object) -> object:
    """Give a time of an event in milliseconds; anything else is left as it is."""
    n_seconds = int_of({"timestamp": timestamp}, "timestamp")
    return timestamp if n_seconds is None or n_seconds > _LAST_SECOND else n_seconds * 1000
