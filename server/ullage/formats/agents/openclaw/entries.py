"""Lines of a session file as entries, in the shape of pi's version 3 (docs/design/sessions.md).

In a flat file a message's own fields stand beside the entry's. An event file is flat and linear
besides: no header, no parents, and compactions under names of their own. Both are told by their
shape and given that of pi's, so that no other reader needs to know more of them.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from ullage.core.change.edit import PruneEdit, UndoEdit
from ullage.core.transcript.context import SYSTEM_SUMMARY_OPENING, Context, PruneRecord
from ullage.core.transcript.entries import Entry, Header, JsonObject, Line, Lines, Problem
from ullage.formats import json_line
from ullage.formats.json_line import LAST_SECOND, int_of, iso_ms, ms_of, object_of, text_of
from ullage.formats.notes import to_prune_record
from ullage.formats.reading import make_entry, read_stub_fields

FLAT = "flat"
"""docs/design/sessions.md, "Flat files"."""
EVENTS = "events"
"""docs/design/sessions.md, "Event files"."""
EVENTS_VERSION = 0
FLAT_VERSION = 2
"""Also pi's own second version, whose messages are in objects of their own."""
DIALECT_VERSIONS = (EVENTS_VERSION, FLAT_VERSION)
EVENT_DETAILS = ("trigger", "layer", "messagesCompacted", "customInstruction", "boundaryMessageId")
MAX_HEADER_BYTES = 1024 * 1024
"""pi 0.87.1 looks no further for the header (MAX_SESSION_HEADER_SCAN_BYTES)."""
MAX_META_BYTES = 16 * 1024 * 1024
"""How far from its end a file is searched: the live part of any session (chosen)."""
_ENTRY_FIELDS = ("type", "id", "parentId")
_MESSAGE_KINDS = ("message", "custom_message")
_RENAMED = {"tokensBeforeCompaction": "tokensBefore", "tokensAfterCompaction": "tokensAfter"}
_FLUSH_COUNT = "memoryFlushCompactionCount"
_HEAD = re.compile(
    rb'\{"type":"(\w{1,40})","id":"([\w-]{1,64})","parentId":(?:"([\w-]{1,64})"|null),'
)
"""How pi begins an entry: enough to follow the path through a line that is too long."""
TITLE_KIND = "session_info"
PRUNE_NOTE = "ullage.prune"
UNDO_NOTE = "ullage.undo"
_NOTE_KINDS = ("custom", PRUNE_NOTE, UNDO_NOTE)


class Stub(msgspec.Struct, kw_only=True, rename="camel"):
    """The fields that make the tree; reading only these is six times as fast as all."""

    type: str = ""
    id: str | None = None
    parent_id: str | None = None
    timestamp: str | None = None
    append_mode: str | None = None


_decode_stub = msgspec.json.Decoder(Stub).decode


class Notes(msgspec.Struct, frozen=True, kw_only=True):
    """What the notes since the boundary tell."""

    stale: tuple[range, ...]
    """Places of entries whose usage says nothing any more: all before a prune in force, and
    those between a change and its undo."""
    is_figure_stale: bool
    """Whether something was taken back since the last compaction or prune that noted its result."""
    pruned: PruneRecord | None
    """The last prune that was not taken back."""

    def is_stale(self, at: int) -> bool:
        return any(at in places for places in self.stale)


def read_header(lines: Lines) -> Header | None:
    """Read the header: the first line that parses must be a session with an id.

    Event files have none and are told by their first event, flat files by their first message.
    """
    header: Header | None = None
    for line in lines.forward():
        if line.offset > MAX_HEADER_BYTES:
            return header
        native = json_line.decode_object(line)
        if isinstance(native, str):
            continue
        if header is not None:
            if native.get("type") == "message":
                # With parents, flat files are read alike whatever version they name.
                is_tree = header.version == FLAT_VERSION or "parentId" in native
                is_other = is_flat(native) and is_tree
                flat = msgspec.structs.replace(header, version=FLAT_VERSION, dialect=FLAT)
                return flat if is_other else header
            continue
        header = _header_of(native)
        if header is None or header.dialect or header.version > FLAT_VERSION:
            return header
    return header


def read_stub(line: Line) -> Stub | Problem | None:
    """Read a line's place in the tree; None for blank lines, headers and metadata."""
    try:
        stub = _decode_stub(line.raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        if json_line.is_blank(line):
            return None
        native = json_line.decode_object(line)
        if isinstance(native, str):
            head = _HEAD.match(line.raw) if len(line.raw) > json_line.MAX_LINE_BYTES else None
            if head is None:
                return Problem(offset=line.offset, message=native)
            return Stub(
                type=head[1].decode(),
                id=head[2].decode(),
                parent_id=head[3].decode() if head[3] else None,
            )
        stub = read_stub_fields(native, Stub)
    # Metadata would be a leaf without a parent, and hide the whole session.
    is_meta_line = stub.type == "meta" and stub.id is None
    return None if stub.type == "session" or is_meta_line else stub


def read_entry(line: Line, version: int = 3) -> Entry | Problem | None:
    """Read a line whole; None for blank lines, headers and metadata."""
    native = json_line.read_object(line)
    if not isinstance(native, dict):
        return native
    kind = text_of(native, "type") or ""
    if kind == "session" or _is_meta(native):
        return None
    if version in DIALECT_VERSIONS:
        native = _in_pi_shape(native)
    if version < 3 and kind == "message":
        message = object_of(native, "message")
        if message is not None and message.get("role") == "hookMessage":
            native = native | {"message": message | {"role": "custom"}}
    parent_id = text_of(native, "parentId") or None
    return make_entry(line, native, entry_id=text_of(native, "id"), kind=kind, parent_id=parent_id)


def linear_entries(lines: Lines) -> Iterator[Entry | Problem]:
    """Read a version 1 file, which has no ids: number its lines and chain them.

    pi gives random ids when it migrates such a file; ours are the position, in hexadecimal.
    """
    ids: list[str | None] = []
    parent_id: str | None = None
    for line in lines.forward():
        if json_line.is_blank(line):
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
    anywhere in a file of a dialect. It begins with a count of 0, which means no flush.
    """
    if not header.dialect:
        return None
    for line in lines.backward():
        if lines.size_bytes - line.offset > MAX_META_BYTES:
            return None
        if _FLUSH_COUNT.encode() not in line.raw:
            continue
        native = json_line.decode_object(line)
        if not isinstance(native, str) and _is_meta(native):
            return int_of(native, _FLUSH_COUNT) or None
    return None


def summary_message(
    dialect: str, boundary: JsonObject, others: Sequence[Entry]
) -> JsonObject | None:
    """Give a compaction's summary as the specification of its format sends it.

    Its time is in the unit of the other messages' times.
    """
    summary = text_of(boundary, "summary") or ""
    if dialect == EVENTS:
        content = f"[Previous Context Summary]\n{summary}"
        at_ms = ms_of(boundary)
        times = (int_of(entry.native, "timestamp") for entry in others)
        other = next((time for time in times if time is not None), None)
        is_seconds = other is not None and other <= LAST_SECOND
        at = boundary.get("timestamp")
        if at_ms is not None and other is not None:
            at = at_ms // 1000 if is_seconds else at_ms
        return {"role": "user", "content": content, "timestamp": at}
    if dialect == FLAT:
        return {"role": "system", "content": SYSTEM_SUMMARY_OPENING + summary}
    return None


def _header_of(native: JsonObject) -> Header | None:
    session_id = text_of(native, "id")
    if native.get("type") != "session" or session_id is None:
        return _events_header(native)
    return Header(
        agent="openclaw",
        session_id=session_id,
        version=int_of(native, "version") or 1,
        cwd=text_of(native, "cwd"),
    )


def _events_header(native: JsonObject) -> Header | None:
    """Recognize a file without a header by its first event.

    The session's id is empty: only the file's name knows it.
    """
    is_message = native.get("type") == "message" and is_flat(native)
    is_compaction = native.get("type") == "compaction" and text_of(native, "summary") is not None
    if not (is_message or is_compaction) or text_of(native, "id") is None or "parentId" in native:
        return None
    return Header(agent="openclaw", session_id="", version=EVENTS_VERSION, cwd=None, dialect=EVENTS)


def is_flat(native: JsonObject) -> bool:
    """Whether a message's own fields stand beside the entry's."""
    return (
        text_of(native, "type") in _MESSAGE_KINDS
        and "message" not in native
        and "customType" not in native
        and ("role" in native or "content" in native)
    )


def _in_pi_shape(native: JsonObject) -> JsonObject:
    """Put a message's fields into an object and compactions under pi's names; lose nothing."""
    if is_flat(native):
        message = {key: value for key, value in native.items() if key not in _ENTRY_FIELDS}
        message.setdefault("role", "user")
        native = {key: native[key] for key in (*_ENTRY_FIELDS, "timestamp") if key in native}
        native["message"] = message
    elif native.get("type") == "compaction":
        renamed = {_RENAMED[key]: native[key] for key in _RENAMED if key in native}
        details = {key: native[key] for key in EVENT_DETAILS if key in native}
        native = native | renamed
        if details:
            native = native | {"details": (object_of(native, "details") or {}) | details}
    return native


def _is_meta(native: JsonObject) -> bool:
    return native.get("type") == "meta" and text_of(native, "id") is None


def new_note(
    context: Context, kind: str, data: JsonObject, edit: PruneEdit | UndoEdit
) -> JsonObject:
    """Make a note that follows the leaf, in the shape of the session's own entries."""
    timestamp = edit.timestamp
    tree: JsonObject = {"id": edit.entry_id, "parentId": context.leaf_id}
    match context.header.dialect:
        case "events":
            at: JsonObject = {"timestamp": events_time(context, timestamp)}
            return {"id": f"note-{iso_ms(timestamp)}", "type": kind} | at | {"data": data}
        case "flat":
            data = data | {"timestamp": iso_ms(timestamp)}
            return {"type": "custom"} | tree | {"name": kind, "data": data}
        case _:
            head: JsonObject = {"type": "custom", "customType": kind, "data": data}
            return head | tree | {"timestamp": timestamp}


def note_key(native: JsonObject, kind: str) -> str | None:
    """Name the field that makes an entry a note of a kind; None where it is none."""
    named_by = ("customType", "name") if native.get("type") == "custom" else ("type",)
    return next((key for key in named_by if native.get(key) == kind), None)


def is_note(entry: Entry) -> bool:
    """Whether an entry tells that usages from before it hold no more."""
    if entry.kind not in _NOTE_KINDS:
        return False
    native = entry.native
    is_undone = note_key(native, UNDO_NOTE) is not None and "until" in _data(entry)
    return is_undone or note_key(native, PRUNE_NOTE) is not None


def notes_of(after: Sequence[Entry]) -> Notes:
    """Read the notes that follow the boundary.

    What was taken back keeps its place in the file, and notes until where the file went then.
    """
    found = [(at, entry) for at, entry in enumerate(after) if is_note(entry)]
    places = {entry.entry_id: at for at, entry in enumerate(after)} if found else {}
    notes = Notes(stale=(), is_figure_stale=False, pruned=None)
    last_until = -1
    for at, entry in found:
        is_undo = note_key(entry.native, UNDO_NOTE) is not None
        until = max(at, places.get(text_of(_data(entry), "until") or "", at))
        # At the same place, what was taken back came later: it stands above.
        notes = Notes(
            stale=(*notes.stale, range(at if is_undo else 0, until + 1)),
            is_figure_stale=is_undo if until > last_until else notes.is_figure_stale,
            pruned=notes.pruned if is_undo else _to_prune_record(entry),
        )
        last_until = max(until, last_until)
    if notes.pruned is None or not notes.is_figure_stale:
        return notes
    pruned = msgspec.structs.replace(notes.pruned, n_tokens_after=None)
    return msgspec.structs.replace(notes, pruned=pruned)


def undo_data(undone: JsonObject, until: str) -> JsonObject:
    """Note what was taken back when the file ended with the entry `until`."""
    return {"by": "ullage", "version": 1, "undone": undone, "until": until}


def events_time(context: Context, timestamp: str) -> int:
    """Give a time in the unit of an event file: that of its last message, else milliseconds."""
    n_ms = iso_ms(timestamp) or 0
    times = (item.native.get("timestamp") for item in reversed(context.items))
    last = next((time for time in times if isinstance(time, int | float)), None)
    return n_ms if last is None or last > LAST_SECOND else n_ms // 1000


def _to_prune_record(entry: Entry) -> PruneRecord:
    data = _data(entry)
    at_ms = ms_of(entry.native) or ms_of(data)
    return to_prune_record(data, entry.entry_id, at_ms)


def read_prune(line: Line) -> PruneRecord | None:
    entry = read_entry(line, EVENTS_VERSION) if PRUNE_NOTE.encode() in line.raw else None
    if not isinstance(entry, Entry) or note_key(entry.native, PRUNE_NOTE) is None:
        return None
    return _to_prune_record(entry)


def _data(entry: Entry) -> JsonObject:
    return object_of(entry.native, "data") or {}
