"""Lines of a Claude Code transcript as entries, and what Ullage itself notes in it."""

from itertools import islice

import msgspec

from ullage.core.change.edit import PruneEdit
from ullage.core.transcript.context import Context, PruneRecord
from ullage.core.transcript.entries import Entry, Header, JsonObject, Line, Lines, Problem
from ullage.formats import json_line
from ullage.formats.notes import FROM_SESSION, prune_figures, to_prune_record
from ullage.formats.reading import make_entry, read_stub_fields

MAX_UNNAMED_LINES = 50
"""The last lines may be notes that name no branch (6 seen; the rest is margin)."""
MAX_HEADER_LINES = 50
"""The first lines may be notes without a session's marks (4 seen; the rest is margin)."""

PRUNE_NOTE = "ullage-prune"
"""Type of the record behind a prune. It has no uuid, so that it is no part of the thread."""

COSTS = "cost-state"
"""Type of the record that adds up what each model cost; no part of the thread either."""

QUEUE = "queue-operation"
"""Type of the record of what is typed while the agent works; no part of the thread."""

GIVEN = "remove"
"""Operation of such a record by which the agent gets what was typed, at once."""


class Stub(msgspec.Struct, kw_only=True, rename="camel"):
    """The fields that place a record; reading only these is six times as fast as all."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    is_sidechain: bool = False
    timestamp: str | None = None
    operation: str | None = None
    """Of a record of the queue; `remove` alone gives what was typed to the agent."""

    @property
    def is_boundary(self) -> bool:
        return self.type == "system" and self.subtype == "compact_boundary"

    @property
    def is_prune_note(self) -> bool:
        return self.type == PRUNE_NOTE

    @property
    def is_costs(self) -> bool:
        return self.type == COSTS

    @property
    def is_queue(self) -> bool:
        return self.type == QUEUE

    @property
    def is_given(self) -> bool:
        return self.is_queue and self.operation == GIVEN


_decode_stub = msgspec.json.Decoder(Stub).decode


def read_branch(lines: Lines) -> str | None:
    """Read which branch the last record names; `HEAD` is none, nor is what has no repository."""
    last = islice(lines.backward(), MAX_UNNAMED_LINES)
    line = next((line for line in last if b'"gitBranch"' in line.raw), None)
    native = "" if line is None else json_line.decode_object(line)
    branch = "" if isinstance(native, str) else json_line.text_of(native, "gitBranch")
    return None if branch in (None, "", "HEAD") else branch


def read_header(lines: Lines) -> Header | None:
    """Find the session's marks on the first record of the conversation."""
    for n_read, line in enumerate(lines.forward()):
        if n_read == MAX_HEADER_LINES:
            return None
        native = json_line.decode_object(line)
        if isinstance(native, str) or "parentUuid" not in native:
            continue
        session_id = json_line.text_of(native, "sessionId")
        if session_id is None or json_line.text_of(native, "uuid") is None:
            return None
        agent_id = (
            json_line.text_of(native, "agentId") if native.get("isSidechain") is True else None
        )
        return Header(
            agent="claude-code",
            session_id=agent_id or session_id,
            version=0,
            cwd=json_line.text_of(native, "cwd"),
            parent_session_id=session_id if agent_id else None,
        )
    return None


def read_stub(line: Line) -> Stub | Problem | None:
    """Read a record's place; None for blank lines and the NUL padding that a crash leaves."""
    if _is_empty(line):
        return None
    try:
        return _decode_stub(line.raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        native = json_line.read_object(line)
        if not isinstance(native, dict):
            return native
        return read_stub_fields(native, Stub)


def read_entry(line: Line) -> Entry | Problem | None:
    """Read a line whole; None for blank lines and NUL padding."""
    if _is_empty(line):
        return None
    native = json_line.read_object(line)
    if not isinstance(native, dict):
        return native
    return make_entry(
        line,
        native,
        entry_id=json_line.text_of(native, "uuid"),
        kind=json_line.text_of(native, "type") or "",
        parent_id=json_line.text_of(native, "parentUuid"),
    )


def is_boundary_entry(entry: Entry) -> bool:
    return entry.kind == "system" and entry.native.get("subtype") == "compact_boundary"


def metadata_of(boundary: Entry) -> JsonObject:
    return json_line.object_of(boundary.native, "compactMetadata") or {}


def preserved_ids(boundary: Entry) -> tuple[str, ...]:
    """List the records before a boundary that it keeps, in the order they are sent."""
    preserved = json_line.object_of(metadata_of(boundary), "preservedMessages") or {}
    return json_line.texts_of(preserved, "uuids")


def anchor_id(boundary: Entry) -> str | None:
    """Name the record that a boundary's preserved ones follow: its summary."""
    metadata = metadata_of(boundary)
    kept = json_line.object_of(metadata, "preservedMessages") or json_line.object_of(
        metadata, "preservedSegment"
    )
    return json_line.text_of(kept or {}, "anchorUuid")


def read_prune_note(note: Entry) -> PruneRecord:
    return to_prune_record(
        note.native, json_line.text_of(note.native, "id") or "", json_line.ms_of(note.native)
    )


def read_prune(line: Line) -> PruneRecord | None:
    entry = read_entry(line) if PRUNE_NOTE.encode() in line.raw else None
    return read_prune_note(entry) if isinstance(entry, Entry) and entry.kind == PRUNE_NOTE else None


def new_prune_note(context: Context, edit: PruneEdit) -> JsonObject:
    head: JsonObject = {"type": PRUNE_NOTE, "id": edit.entry_id, "timestamp": edit.timestamp}
    return head | prune_figures(context, edit) | {FROM_SESSION: context.header.session_id}


def _is_empty(line: Line) -> bool:
    return json_line.is_blank(line) or not line.raw.strip(b"\0\r\n ")
