"""Lines of a Codex rollout as entries, and what Ullage itself notes in one.

Lines have no ids. Rollouts are only ever appended to, so a line's offset serves as its id.
"""

import msgspec

from ullage.core.transcript.context import PruneRecord
from ullage.core.transcript.entries import Entry, Header, JsonObject, Line, Lines, Problem
from ullage.formats import json_line
from ullage.formats.notes import OWN_KEY, own_note, to_prune_record
from ullage.formats.reading import make_entry, read_stub_fields


class PayloadStub(msgspec.Struct, kw_only=True):
    type: str | None = None


class Stub(msgspec.Struct, kw_only=True):
    """What a line is; reading only this passes over the text in it."""

    type: str = ""
    timestamp: str | None = None
    payload: PayloadStub | None = None

    def is_event(self, *names: str) -> bool:
        return self.type == "event_msg" and self.payload is not None and self.payload.type in names


_decode_stub = msgspec.json.Decoder(Stub).decode


def read_header(lines: Lines) -> Header | None:
    """Recognize a rollout by its first line; a forked one repeats its parent's further down."""
    first = next((line for line in lines.forward() if not json_line.is_blank(line)), None)
    native = "" if first is None else json_line.decode_object(first)
    if isinstance(native, str) or native.get("type") != "session_meta":
        return None
    meta = json_line.object_of(native, "payload") or {}
    session_id = json_line.text_of(meta, "id") or json_line.text_of(meta, "session_id")
    if not session_id:
        return None
    return Header(
        agent="codex",
        session_id=session_id,
        version=0,
        cwd=json_line.text_of(meta, "cwd"),
        parent_session_id=_parent_id(meta, session_id),
        branch=json_line.text_of(json_line.object_of(meta, "git") or {}, "branch") or "",
    )


def read_stub(line: Line) -> Stub | Problem | None:
    """Read what a line is; None for blank lines."""
    try:
        stub = _decode_stub(line.raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        stub = None
    if stub is not None and stub.type:
        return stub
    native = json_line.read_object(line)
    if not isinstance(native, dict):
        return native
    return read_stub_fields(native, Stub)


def read_entry(line: Line) -> Entry | Problem | None:
    """Read a line whole; None for blank lines."""
    native = json_line.read_object(line)
    if not isinstance(native, dict):
        return native
    return to_entry(line, json_line.text_of(native, "type") or "", native)


def to_entry(line: Line, kind: str, native: JsonObject) -> Entry:
    return make_entry(line, native, entry_id=entry_id_of(line), kind=kind)


def entry_id_of(line: Line) -> str:
    return f"{line.offset:08x}"


def payload_of(entry: Entry) -> JsonObject:
    return json_line.object_of(entry.native, "payload") or {}


def is_prune(entry: Entry) -> bool:
    """Whether a line notes our prune, in a key that Codex ignores (0.169, run)."""
    return entry.kind == "event_msg" and own_note(payload_of(entry)) is not None


def read_prune_note(entry: Entry) -> PruneRecord:
    note = own_note(payload_of(entry)) or {}
    note_id = json_line.text_of(note, "id") or ""
    return to_prune_record(note, note_id, json_line.ms_of(entry.native))


def read_prune(line: Line) -> PruneRecord | None:
    entry = read_entry(line) if f'"{OWN_KEY}"'.encode() in line.raw else None
    return read_prune_note(entry) if isinstance(entry, Entry) and is_prune(entry) else None


def _parent_id(meta: JsonObject, session_id: str) -> str | None:
    """Name the thread that a subagent belongs to; empty where only its being one is told."""
    source = json_line.object_of(meta, "source") or {}
    if "subagent" not in source and meta.get("thread_source") != "subagent":
        return None
    spawn = json_line.object_of(json_line.object_of(source, "subagent") or {}, "thread_spawn") or {}
    root_id = json_line.text_of(meta, "session_id")
    return (
        json_line.text_of(spawn, "parent_thread_id")
        or json_line.text_of(meta, "parent_thread_id")
        or (root_id if root_id and root_id != session_id else "")
    )
