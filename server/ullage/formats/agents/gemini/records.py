"""Lines of a Gemini CLI chat as entries.

Older chats are one JSON document over many lines; such a file is read as a single line.
"""

from collections.abc import Iterator

import msgspec

from ullage.core.transcript.entries import Entry, Header, JsonObject, Line, Lines, Problem
from ullage.formats.json_line import (
    MAX_LINE_BYTES,
    decode_object,
    is_blank,
    object_of,
    read_object,
    text_of,
)
from ullage.formats.reading import make_entry

_HEADER_MARKS = ("projectHash", "startTime", "kind")
"""What stands beside `sessionId` in the metadata, and in no other agent's first line together."""


class SetStub(msgspec.Struct, kw_only=True):
    messages: msgspec.Raw = msgspec.Raw(b"")


class Stub(msgspec.Struct, kw_only=True):
    """What a line is; reading only this passes over the text in it."""

    id: str | None = None
    model: str | None = None
    rewind_to: str | None = msgspec.field(default=None, name="$rewindTo")
    set: SetStub | None = msgspec.field(default=None, name="$set")
    messages: msgspec.Raw = msgspec.Raw(b"")

    @property
    def is_message(self) -> bool:
        return self.rewind_to is None and self.id is not None

    @property
    def is_base(self) -> bool:
        """Whether a line replaces the whole history."""
        if self.rewind_to is not None or self.id is not None:
            return False
        messages = self.messages if self.set is None else self.set.messages
        return bytes(memoryview(messages)[:1]) == b"["


_decode_stub = msgspec.json.Decoder(Stub).decode


def is_document(lines: Lines) -> bool:
    """Whether a chat is one document, as it was before the log: its first line opens it."""
    first = next(lines.forward(), None)
    return first is not None and first.raw.strip() == b"{"


def document_of(lines: Lines) -> Line:
    """Join the lines of a document, no more of them than make it too long to be read."""
    document = bytearray()
    for line in lines.forward():
        document += line.raw
        if len(document) > MAX_LINE_BYTES:
            break
    return Line(0, bytes(document))


def lines_upwards(lines: Lines) -> Iterator[Line]:
    return iter((document_of(lines),)) if is_document(lines) else lines.backward()


def lines_downwards(lines: Lines) -> Iterator[Line]:
    return iter((document_of(lines),)) if is_document(lines) else lines.forward()


def read_header(lines: Lines) -> Header | None:
    """Recognize a chat by the metadata that it begins with."""
    first = next((line for line in lines_downwards(lines) if not is_blank(line)), None)
    native = "" if first is None else decode_object(first)
    if isinstance(native, str) or "type" in native or "id" in native:
        return None
    session_id = text_of(native, "sessionId")
    if not session_id or sum(text_of(native, key) is not None for key in _HEADER_MARKS) < 2:
        return None
    return Header(
        agent="gemini",
        session_id=session_id,
        version=0,
        # Only a hash of the folder is noted; the folder that holds the chat tells which it is.
        cwd=None,
        # A subagent's parent gives its name to the folder, and does not stand in the file.
        parent_session_id="" if native.get("kind") == "subagent" else None,
    )


def read_stub(line: Line) -> Stub | Problem | None:
    """Read what a line is; None for blank lines."""
    if is_blank(line):
        return None
    try:
        return _decode_stub(line.raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        native = read_object(line)
    if not isinstance(native, dict):
        return native
    changes = object_of(native, "$set")
    return Stub(
        id=text_of(native, "id"),
        model=text_of(native, "model"),
        rewind_to=text_of(native, "$rewindTo"),
        set=None if changes is None else SetStub(messages=_list_mark(changes)),
        messages=_list_mark(native),
    )


def read_entry(line: Line) -> Entry | Problem | None:
    """Read a line whole; None for blank lines."""
    native = read_object(line)
    if not isinstance(native, dict):
        return native
    return make_entry(line, native, entry_id=text_of(native, "id"), kind=_kind(native))


def changes_of(native: JsonObject) -> JsonObject:
    """Give what a line without an id sets: a change, or the metadata themselves."""
    return object_of(native, "$set") or native


def _kind(native: JsonObject) -> str:
    for key in ("$rewindTo", "$set"):
        if key in native:
            return key
    return text_of(native, "type") or ("message" if "id" in native else "metadata")


def _list_mark(native: JsonObject) -> msgspec.Raw:
    """Stand for a list of messages that the quick reading could not pass over."""
    return msgspec.Raw(b"[" if isinstance(native.get("messages"), list) else b"")
