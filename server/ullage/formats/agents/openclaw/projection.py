"""From the active path to the messages that pi sends."""

from collections.abc import Sequence

import msgspec

from ullage.core.transcript.context import Category, ContextItem
from ullage.core.transcript.entries import (
    Entry,
    Header,
    JsonObject,
    Lines,
    MemoryLines,
    ToolCall,
    ToolResult,
)
from ullage.core.transcript.lineage import EMPTY_INDEX
from ullage.formats.agents.openclaw.entries import notes_of, read_entry, summary_message
from ullage.formats.agents.openclaw.messages import to_message
from ullage.formats.agents.openclaw.path import ActivePath, names_model, read_path
from ullage.formats.json_line import ms_of, object_of, text_of, write_line
from ullage.formats.reading import make_item

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


def project(path: ActivePath, dialect: str = "") -> tuple[ContextItem, ...]:
    """List the messages: the boundary's summary, what it kept, what came after.

    A reset of OpenClaw is a boundary without a summary.

    An edit counts only where it stands in the selected part itself; the latest one wins.
    """
    items: list[ContextItem] = []
    notes = notes_of(path.after)
    is_fresh = notes.pruned is None
    if path.boundary is not None and path.boundary.kind == "compaction":
        system = object_of(path.boundary.native, "systemMessage")
        if system is not None:
            items.append(_item(path.boundary, system, is_after_boundary=is_fresh))
        summary = summary_message(dialect, path.boundary.native) or _summary(path.boundary)
        items.append(_item(path.boundary, summary, is_after_boundary=is_fresh, category="summary"))
    edits = {
        text_of(entry.native, "targetId") or "": entry.native
        for entry in (*path.kept, *path.after)
        if entry.kind == "context_edit"
    }
    for entry in path.kept:
        native = _edit(_native(entry), edits.get(entry.entry_id))
        if native is not None and native.get("role") != "system":
            items.append(_item(entry, native, is_after_boundary=False))
    for number, entry in enumerate(path.after):
        native = _edit(_native(entry), edits.get(entry.entry_id))
        if native is not None:
            items.append(_item(entry, native, is_after_boundary=not notes.is_stale(number)))
    return tuple(items)


def model_of(path: ActivePath) -> tuple[str | None, str | None]:
    """Name the model in use and its provider: by the last answer or the last change of it."""
    for entry in reversed((*path.dropped, *path.kept, *path.after)):
        if names_model(entry):
            return model_named_by(entry)
    return None, None


def model_named_by(entry: Entry) -> tuple[str | None, str | None]:
    message = object_of(entry.native, "message")
    if message is None:
        return text_of(entry.native, "modelId"), text_of(entry.native, "provider")
    return text_of(message, "model"), text_of(message, "provider")


def item_of(entry: Entry) -> ContextItem | None:
    """Give the message of an entry that follows the boundary and that no edit changes."""
    native = _native(entry)
    return None if native is None else _item(entry, native, is_after_boundary=True)


def _item(
    entry: Entry,
    native: JsonObject,
    *,
    is_after_boundary: bool,
    category: Category | None = None,
) -> ContextItem:
    message, category_of_role = to_message(native)
    if entry.kind == "custom_message":
        category = "injected"
    return make_item(
        entry, message, category or category_of_role, native, is_after_boundary=is_after_boundary
    )


def _native(entry: Entry) -> JsonObject | None:
    """Give the message of an entry as pi holds it in memory; None for other entries."""
    match entry.kind:
        case "message":
            message = object_of(entry.native, "message")
            return None if message is None or _is_private(message) else _with_content(message)
        case "custom_message" if object_of(entry.native, "message") is not None:
            return object_of(entry.native, "message")
        case "custom_message":
            fields = ("customType", "content", "display", "details")
            return _made("custom", entry, fields, {"content": []})
        case "branch_summary" if text_of(entry.native, "summary"):
            return _made("branchSummary", entry, ("summary", "fromId"), {})
        case _:
            return None


def _is_private(message: JsonObject) -> bool:
    """Whether OpenClaw keeps a message from the model; pi keeps only commands, as empty ones."""
    return message.get("excludeFromContext") is True and message.get("role") != "bashExecution"


def _summary(boundary: Entry) -> JsonObject:
    return _made("compactionSummary", boundary, ("summary", "tokensBefore"), {})


def _made(role: str, entry: Entry, fields: tuple[str, ...], defaults: JsonObject) -> JsonObject:
    """Make a message of a role that stands only in the built context."""
    values = {key: entry.native[key] for key in fields if key in entry.native}
    for key, value in defaults.items():
        if values.get(key) is None:
            values[key] = value
    return {"role": role, **values, "timestamp": ms_of(entry.native)}


def _with_content(message: JsonObject) -> JsonObject:
    """Give content to a message that has none, as pi does for damaged files."""
    if message.get("content") is not None:
        return message
    match message.get("role"):
        case "system":
            return message | {"content": ""}
        case "user" | "assistant" | "toolResult":
            no_content: list[object] = []
            return message | {"content": no_content}
        case _:
            return message


def _edit(message: JsonObject | None, edit: JsonObject | None) -> JsonObject | None:
    """Apply a `context_edit`: null removes the message, else its content is replaced."""
    if message is None or edit is None:
        return message
    replacement = object_of(edit, "replacement")
    if replacement is None:
        return None
    role = message.get("role")
    if role not in ("user", "assistant", "toolResult", "custom"):
        return message
    content = replacement.get("content")
    if isinstance(content, str) and role in ("assistant", "toolResult"):
        content = [{"type": "text", "text": content}]
    return message | {"content": content}


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
        lines.append(write_line(native | {"parentId": parent_id}))
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
    path = _complete(path, entries)
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
    matches = [entry for entry_id, entry in entries.items() if at and entry_id.startswith(at)]
    if len(matches) == 1:
        return matches[0]
    count = "several entries have ids that begin" if matches else "no entry has an id that begins"
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


def _complete(path: list[Entry], entries: dict[str, Entry]) -> list[Entry] | None:
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


def make_header(session_id: str, cwd: str, timestamp: str) -> JsonObject:
    return {
        "type": "session",
        "version": VERSION,
        "id": session_id,
        "timestamp": timestamp,
        "cwd": cwd,
    }


def _header_line(header: NewHeader) -> bytes:
    native = make_header(header.session_id, header.cwd, header.timestamp)
    if header.parent_path is not None:
        native["parentSession"] = header.parent_path
    return write_line(native)
