"""New sessions of pi: one made of records from elsewhere, and one that branches off another."""

from collections.abc import Sequence

import msgspec

from ullage.core.transcript.entries import Entry, Header, Lines, MemoryLines
from ullage.core.transcript.lineage import EMPTY_INDEX
from ullage.core.transcript.message import JsonObject, ToolCall, ToolResult
from ullage.formats.agents.openclaw.entries import read_entry
from ullage.formats.agents.openclaw.messages import to_message
from ullage.formats.agents.openclaw.path import read_path
from ullage.formats.agents.openclaw.projection import project
from ullage.formats.json_line import compact_json, object_of, text_of

VERSION = 3
READABLE_VERSIONS = (2, 3)


class NewHeader(msgspec.Struct, frozen=True, kw_only=True):
    session_id: str
    timestamp: str
    """RFC 3339 in UTC, to the millisecond."""
    cwd: str
    parent_path: str | None = None
    """Transcript that the session branches off."""


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    data: bytes
    entry_id: str
    """The last entry: the one that was asked for, or the result that completes it."""
    n_entries: int


def file_name(header: NewHeader) -> str:
    """Name a session's file as pi does: its time and its id."""
    stamp = header.timestamp.replace(":", "-").replace(".", "-")
    return f"{stamp}_{header.session_id}.jsonl"


def entries_of_context(lines: Lines, header: Header) -> list[JsonObject] | None:
    """List the records from the first that is in the context on; None for other dialects."""
    if header.version not in READABLE_VERSIONS or header.dialect:
        return None
    path = read_path(lines, header, EMPTY_INDEX)
    boundary = () if path.boundary is None else (path.boundary,)
    return [entry.native for entry in (*path.kept, *boundary, *path.after)]


def session_of(entries: Sequence[JsonObject], header: NewHeader) -> bytes:
    """Render a session in which the records follow each other."""
    lines = [_header_line(header)]
    parent_id: str | None = None
    for native in entries:
        lines.append(_line(native | {"parentId": parent_id}))
        parent_id = text_of(native, "id")
    return b"".join(lines)


def messages_of(entries: Sequence[JsonObject]) -> list[JsonObject]:
    """Build the messages that pi sends of a session in which the records follow each other."""
    header = NewHeader(session_id="new", timestamp="", cwd="")
    lines = MemoryLines(session_of(entries, header))
    read_as = Header(agent="openclaw", session_id="new", version=VERSION, cwd="")
    return [item.native for item in project(read_path(lines, read_as, EMPTY_INDEX))]


def branch(lines: Lines, at: str | None, header: NewHeader) -> Branch | str:
    """Copy the path from the first entry to one, the leaf by default; or say why it cannot be.

    Lines are copied byte for byte. Where a call would lose its results, these come along.
    """
    entries: dict[str, Entry] = {}
    for line in lines.forward():
        entry = read_entry(line, VERSION)
        if isinstance(entry, Entry) and entry.entry_id:
            entries[entry.entry_id] = msgspec.structs.replace(entry, native=_slim(entry))
    last = _find(entries, at)
    if isinstance(last, str):
        return last
    path = _path(entries, last)
    if path is None:
        return "its entries follow each other in a circle: repair it with `ullage doctor`"
    path = _completed(path, entries)
    if path is None:
        return f"entry {last.entry_id} is a call without its result: name an earlier one"
    offsets = {entry.offset for entry in path}
    raws = [line.raw for line in lines.forward() if line.offset in offsets]
    whole = [raw if raw.endswith(b"\n") else raw + b"\n" for raw in raws]
    return Branch(
        data=b"".join((_header_line(header), *whole)),
        entry_id=path[-1].entry_id,
        n_entries=len(path),
    )


def _find(entries: dict[str, Entry], at: str | None) -> Entry | str:
    if not entries:
        return "it has no entries yet"
    if at is None:
        return max(entries.values(), key=lambda entry: entry.offset)
    if at in entries:
        return entries[at]
    found = [entry for entry_id, entry in entries.items() if at and entry_id.startswith(at)]
    if len(found) == 1:
        return found[0]
    count = "several entries have ids that begin" if found else "no entry has an id that begins"
    return f"{count} with {at!r}: `ullage context show` lists them"


def _path(entries: dict[str, Entry], last: Entry) -> list[Entry] | None:
    upwards: dict[str, Entry] = {}
    entry: Entry | None = last
    while entry is not None:
        if entry.entry_id in upwards:
            return None
        upwards[entry.entry_id] = entry
        entry = entries.get(entry.parent_id or "")
    return list(reversed(upwards.values()))


def _completed(path: list[Entry], entries: dict[str, Entry]) -> list[Entry] | None:
    """Go on to the results of calls that are open at the end of a path."""
    waiting: set[str] = set()
    for entry in path:
        waiting = _waiting_after(entry, waiting)
    while waiting:
        results = (
            entry
            for entry in entries.values()
            if entry.parent_id == path[-1].entry_id and _waiting_after(entry, waiting) < waiting
        )
        following = next(results, None)
        if following is None:
            return None
        path.append(following)
        waiting = _waiting_after(following, waiting)
    return path


def _waiting_after(entry: Entry, waiting: set[str]) -> set[str]:
    """Tell which calls wait for a result behind an entry; what is said later gives them up."""
    message = object_of(entry.native, "message")
    if message is None or entry.kind != "message":
        return waiting
    blocks = to_message(message)[0].blocks
    results = {block.call_id for block in blocks if isinstance(block, ToolResult)}
    if results:
        return waiting - results
    if message.get("stopReason") in ("error", "aborted"):
        return set()
    return {block.call_id for block in blocks if isinstance(block, ToolCall)}


def _slim(entry: Entry) -> JsonObject:
    """Keep of an entry only what tells its calls and results."""
    message = object_of(entry.native, "message") if entry.kind == "message" else None
    return {} if message is None else {"message": {**message, "details": None}}


def _header_line(header: NewHeader) -> bytes:
    native: JsonObject = {
        "type": "session",
        "version": VERSION,
        "id": header.session_id,
        "timestamp": header.timestamp,
        "cwd": header.cwd,
    }
    if header.parent_path is not None:
        native["parentSession"] = header.parent_path
    return _line(native)


def _line(native: JsonObject) -> bytes:
    return compact_json(native).encode() + b"\n"
