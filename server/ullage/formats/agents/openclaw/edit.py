"""Edits of pi's and OpenClaw's sessions: what they change in the file.

Each is appended where that can be done. To take one back, pi continues from before it, and what it
made stays beside the path. In flat files and event files the last compaction counts wherever it
stands, so there its line goes. A line that something follows becomes a note instead: others may
hang below it, and usages since tell of the shorter context.
"""

from collections.abc import Iterator, Sequence
from uuid import UUID, uuid5

import msgspec

from ullage.core.change.edit import (
    Append,
    CompactionEdit,
    FileChange,
    LineChange,
    NewHeader,
    NewSession,
    PruneEdit,
    Replacement,
    RestoreEdit,
    Rewrite,
    UndoEdit,
    group_by_entry,
    put_back,
)
from ullage.core.gauge.status import rfc3339
from ullage.core.transcript.context import Compaction, Context, ContextItem, last_time_ms
from ullage.core.transcript.entries import Entry, Header, JsonObject, Line, Lines
from ullage.errors import Refused, WriteNotSupported
from ullage.formats.agent_info import Editor
from ullage.formats.agents.openclaw.compaction import (
    events_compaction,
    flat_compaction,
    pi_compaction,
)
from ullage.formats.agents.openclaw.entries import (
    FLAT,
    PRUNE_NOTE,
    UNDO_NOTE,
    new_note,
    note_key,
    read_entry,
    undo_data,
)
from ullage.formats.agents.openclaw.messages import prune_message
from ullage.formats.agents.openclaw.path import is_last, last_id, read_path_again
from ullage.formats.agents.openclaw.transfer import file_name, session_of
from ullage.formats.agents.openclaw.truncate import is_truncated, truncate
from ullage.formats.json_line import decode_object, object_of, text_of, with_value, write_line
from ullage.formats.notes import prune_figures

CHECKPOINT_MESSAGE = "ullage.checkpoint"
"""The `customType` of the message that gives a checkpoint back, as pi's extensions put them in."""
WRITABLE_VERSION = 3
_NAMESPACE = UUID("7f3c8a5e-4a1d-5b52-9d0b-2f6e1c9b8a44")
"""Of the ids of sessions that begin with a checkpoint; drawn once."""


def _refuse(header: Header) -> str | None:
    if header.dialect or header.version == WRITABLE_VERSION:
        return None
    if header.version > WRITABLE_VERSION:
        return "OpenClaw keeps such sessions itself: compact there with /compact"
    return "this pi session has an old format: open it once in pi, which brings it up to date"


def _compact(lines: Lines, context: Context, edit: CompactionEdit) -> Append:
    """Append a compaction in the form that the session's own agent writes."""
    match context.header.dialect:
        case "events":
            entry = events_compaction(lines, context, edit)
        case "flat":
            entry = flat_compaction(context, edit)
        case _:
            entry = pi_compaction(context, edit)
    return _append(lines, entry)


def _prune(lines: Lines, context: Context, edit: PruneEdit) -> Rewrite:
    """Put placeholders into the entries and a note of it behind them.

    `details` beside an output stay: pi keeps up to 50 KB of it there (`truncation.content`),
    which it never sends. Edits of a pruned entry (`context_edit`) get the placeholder as well.
    """
    changes = {change.offset: change for change in _prune_lines(lines, context, edit)}
    last = next(lines.backward(), None)
    if last is not None and last.is_torn:
        new = changes[last.offset].new if last.offset in changes else last.raw
        changes[last.offset] = LineChange(offset=last.offset, old=last.raw, new=new + b"\n")
    offsets = sorted(changes)
    # Of the changed lines in the file before: they tell one prune from another.
    figures = prune_figures(context, edit) | {"offsets": offsets}
    data: JsonObject = {"by": "ullage", "version": 1, **figures}
    note = new_note(context, PRUNE_NOTE, data, edit)
    return Rewrite(changes=tuple(changes[offset] for offset in offsets), appended=write_line(note))


def _restore(lines: Lines, context: Context, edit: RestoreEdit) -> Append:
    """Append the text as a message that follows the leaf.

    Raises:
        WriteNotSupported: the session is not in pi's own shape.
    """
    _refuse_dialect(context)
    return _append(lines, _entry(edit, context.leaf_id))


def _begin(lines: Lines, context: Context, edit: RestoreEdit) -> NewSession:
    """Begin a session of the same folder with the text alone.

    Raises:
        WriteNotSupported: the session is not in pi's own shape.
    """
    del lines
    _refuse_dialect(context)
    names = (context.header.session_id, edit.entry_id)
    header = NewHeader(
        session_id=str(uuid5(_NAMESPACE, "\n".join(names))),
        timestamp=edit.timestamp,
        cwd=context.header.cwd or "",
    )
    data = session_of([_entry(edit, None)], header)
    # By a time that a preview knows as well.
    last_time = rfc3339(last_time_ms(context.items)) or edit.timestamp
    name = file_name(msgspec.structs.replace(header, timestamp=last_time))
    return NewSession(session_id=header.session_id, name=name, data=data)


def _undo_restore(lines: Lines, context: Context, edit: UndoEdit) -> FileChange | None:
    """Go round the message where nothing followed it; else let a note stand in its place.

    pi passes over notes. What hangs below the message stays below the note.
    """
    items = context.items
    restored = next((item for item in reversed(items) if _is_restored(item)), None)
    line = None if restored is None else _line_of(restored.entry_id, lines)
    if line is None:
        return None
    old_line, old = line
    data: JsonObject = {"restored": old.entry_id}
    if old.entry_id == context.leaf_id:
        note = new_note(context, UNDO_NOTE, data, edit)
        return _append(lines, note | {"parentId": old.parent_id})
    in_place = UndoEdit(entry_id=old.entry_id, timestamp=edit.timestamp)
    note = new_note(context, UNDO_NOTE, data, in_place)
    new = write_line(note | {"parentId": old.parent_id})
    change = LineChange(offset=old_line.offset, old=old_line.raw, new=new)
    return Rewrite(changes=(change,), appended=b"")


def _undo_compaction(
    lines: Lines, context: Context, compaction: Compaction, edit: UndoEdit
) -> FileChange:
    data: JsonObject = {"compaction": compaction.entry_id}
    if not context.header.dialect:
        if _went_on(lines, context):
            raise Refused(
                "the session went on after its last compaction, and undoing it would hide what"
                " followed: go back in the agent itself (pi: /tree), or branch off from before it"
                f" (ullage context branch --at {compaction.parent_id})"
            )
        note = new_note(context, UNDO_NOTE, data, edit)
        return _append(lines, note | {"parentId": compaction.parent_id})
    line = _compaction_line(lines, context, compaction)
    if context.header.dialect == FLAT and is_truncated(lines, line):
        raise Refused(
            "what this compaction took out of the file is not in the state folder any more: the"
            " file from before lies beside it, its name ends in .bak"
        )
    new = b""
    if not is_last(line, lines):
        data = undo_data(data, last_id(lines))
        note = new_note(context, UNDO_NOTE, data, edit)
        new = write_line(note | _place_in_tree(line))
    return Rewrite(changes=(LineChange(offset=line.offset, old=line.raw, new=new),), appended=b"")


def _undo_prune(lines: Lines, originals: Sequence[LineChange]) -> Rewrite | None:
    """Put the original lines of a prune back; None where they are not in the file any more."""
    pruned = {change.new for change in originals}
    places: dict[bytes, list[int]] = {}
    note: Line | None = None
    for line in lines.forward():
        if line.raw in pruned:
            places.setdefault(line.raw, []).append(line.offset)
        elif PRUNE_NOTE.encode() in line.raw and _is_note_of(line, originals):
            note = line
    changes = _changes_back(originals, places)
    if changes is None:
        return None
    end = lines.size_bytes
    if note is not None:
        is_at_end = is_last(note, lines)
        new = b"" if is_at_end else _take_back(note, last_id(lines))
        end = note.offset if is_at_end else end
        changes.append(LineChange(offset=note.offset, old=note.raw, new=new))
    changes.sort(key=lambda change: change.offset)
    return Rewrite(changes=tuple(_with_line_ends(changes, end)), appended=b"")


def _append(lines: Lines, entry: JsonObject) -> Append:
    """Append an entry, behind a line end where the last line of the transcript has none."""
    last = next(lines.backward(), None)
    is_torn = last is not None and last.is_torn
    return Append(data=b"\n" + write_line(entry) if is_torn else write_line(entry))


def _refuse_dialect(context: Context) -> None:
    if context.header.dialect:
        raise WriteNotSupported("Ullage puts checkpoints into sessions of pi itself only")


def _entry(edit: RestoreEdit, parent_id: str | None) -> JsonObject:
    return {
        "type": "custom_message",
        "customType": CHECKPOINT_MESSAGE,
        "content": edit.text,
        "display": True,
        "details": {"by": "ullage", "version": 1, "checkpoint": edit.checkpoint_id},
        "id": edit.entry_id,
        "parentId": parent_id,
        "timestamp": edit.timestamp,
    }


def _is_restored(item: ContextItem) -> bool:
    """Whether a message is our checkpoint that no compaction or prune followed."""
    native = item.native
    is_ours = native.get("role") == "custom" and native.get("customType") == CHECKPOINT_MESSAGE
    return is_ours and item.is_after_boundary


def _line_of(entry_id: str, lines: Lines) -> tuple[Line, Entry] | None:
    for line in lines.backward():
        entry = read_entry(line, 3)
        if isinstance(entry, Entry) and entry.entry_id == entry_id:
            return line, entry
    return None


def _prune_lines(lines: Lines, context: Context, edit: PruneEdit) -> list[LineChange]:
    wanted = group_by_entry(edit.replacements)
    path = read_path_again(lines, context)
    entries = (*path.kept, *path.after)
    messages = {entry.entry_id: object_of(entry.native, "message") or {} for entry in entries}
    changes: list[LineChange] = []
    for entry in entries:
        target_id = _target_id(entry)
        if target_id not in wanted:
            continue
        line = next(lines.forward(entry.offset))
        new = _prune_line(line, messages.get(target_id, {}), wanted[target_id])
        if new != line.raw:
            changes.append(LineChange(offset=line.offset, old=line.raw, new=new))
    return changes


def _target_id(entry: Entry) -> str:
    """Name the entry whose message an entry holds or replaces."""
    if entry.kind == "context_edit":
        return text_of(entry.native, "targetId") or ""
    return entry.entry_id


def _prune_line(line: Line, target: JsonObject, replacements: Sequence[Replacement]) -> bytes:
    """Put placeholders into a message where it stands, or into what an edit makes of it."""
    native = decode_object(line)
    if isinstance(native, str):
        return line.raw
    key = next((key for key in ("message", "replacement") if object_of(native, key)), None)
    inner = native if key is None else object_of(native, key) or {}
    holder = target | inner if key == "replacement" else inner
    pruned = prune_message(holder, replacements)
    if pruned is holder:
        return line.raw
    keys = ("content",) if key is None else (key, "content")
    return with_value(line.raw, keys, pruned["content"])


def _went_on(lines: Lines, context: Context) -> bool:
    """Whether anything but our own notes, which can be hidden too, follows the boundary.

    Not messages alone: an edit of a message or a change of the model would be lost as well.
    """
    kinds = (PRUNE_NOTE, UNDO_NOTE)
    return any(
        all(note_key(entry.native, kind) is None for kind in kinds)
        for entry in read_path_again(lines, context).after
    )


def _compaction_line(lines: Lines, context: Context, compaction: Compaction) -> Line:
    refs = reversed(context.compactions)
    compaction_ref = next(ref for ref in refs if ref.entry_id == compaction.entry_id)
    return next(lines.forward(compaction_ref.offset))


def _place_in_tree(line: Line) -> JsonObject:
    native = decode_object(line)
    if isinstance(native, str):
        return {}
    return {key: native[key] for key in ("id", "parentId") if key in native}


def _changes_back(
    originals: Sequence[LineChange], places: dict[bytes, list[int]]
) -> list[LineChange] | None:
    """Change each line back; of equal lines, that which is nearest to where it was left."""
    n_shift = 0
    changes: list[LineChange] = []
    for change in originals:
        expected = change.offset + n_shift
        free = places.get(change.new, [])
        if not free:
            return None
        nearest = min(free, key=lambda offset: abs(offset - expected))
        free.remove(nearest)
        changes.append(LineChange(offset=nearest, old=change.new, new=change.old))
        n_shift += len(change.new) - len(change.old)
    return changes


def _with_line_ends(changes: Sequence[LineChange], end: int) -> Iterator[LineChange]:
    """Let a line that had no end keep the one that it got where something follows it now."""
    for change in changes:
        is_followed = change.offset + len(change.old) < end
        has_end = not change.new or change.new.endswith(b"\n")
        new = change.new if has_end or not is_followed else change.new + b"\n"
        yield LineChange(offset=change.offset, old=change.old, new=new)


def _is_note_of(line: Line, originals: Sequence[LineChange]) -> bool:
    """Whether a line is the note of this prune: it names the changed lines by their offsets."""
    native = decode_object(line)
    if isinstance(native, str) or note_key(native, PRUNE_NOTE) is None:
        return False
    data = object_of(native, "data") or {}
    return data.get("offsets") == [change.offset for change in originals]


def _take_back(note: Line, until: str) -> bytes:
    """Give the line of a note that says from now on that its prune was taken back."""
    native = decode_object(note)
    key = None if isinstance(native, str) else note_key(native, PRUNE_NOTE)
    if isinstance(native, str) or key is None:
        return note.raw
    data = undo_data(object_of(native, "data") or {}, until)
    return with_value(with_value(note.raw, (key,), UNDO_NOTE), ("data",), data)


EDITOR = Editor(
    refuse=_refuse,
    compact=_compact,
    prune=_prune,
    restore=_restore,
    begin=_begin,
    undo_compaction=_undo_compaction,
    undo_restore=_undo_restore,
    undo_prune=_undo_prune,
    truncated_dialects=frozenset({FLAT}),
    truncate=truncate,
    put_back=put_back,
)
