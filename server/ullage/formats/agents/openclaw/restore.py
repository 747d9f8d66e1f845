"""Checkpoints given back to sessions of pi: as the message that its extensions put in."""

from uuid import UUID, uuid5

from ullage.core.change.edit import Append, FileChange, LineChange, NewSession, RestoreEdit, Rewrite
from ullage.core.transcript.context import Context, ContextItem
from ullage.core.transcript.entries import Entry, Line, Lines
from ullage.core.transcript.message import JsonObject
from ullage.errors import WriteNotSupported
from ullage.formats.agents.openclaw.entries import read_entry
from ullage.formats.agents.openclaw.new_session import NewHeader, file_name, session_of
from ullage.formats.agents.openclaw.notes import UNDO_NOTE, json_line, new_note
from ullage.formats.agents.openclaw.undo import append_entry

CHECKPOINT_MESSAGE = "ullage.checkpoint"
"""The `customType` of the message."""
_NAMESPACE = UUID("7f3c8a5e-4a1d-5b52-9d0b-2f6e1c9b8a44")
"""Of the ids of sessions that begin with a checkpoint; drawn once."""


def restore(lines: Lines, context: Context, edit: RestoreEdit) -> Append:
    """Append the text as a message that follows the leaf.

    Raises:
        WriteNotSupported: the session is not in pi's own shape.
    """
    _refuse_dialect(context)
    return append_entry(lines, _entry(edit, context.leaf_id))


def begin(lines: Lines, context: Context, edit: RestoreEdit) -> NewSession:
    """Begin a session of the same folder with the text alone.

    Raises:
        WriteNotSupported: the session is not in pi's own shape.
    """
    del lines
    _refuse_dialect(context)
    names = (context.header.session_id, edit.entry_id, edit.timestamp)
    header = NewHeader(
        session_id=str(uuid5(_NAMESPACE, "\n".join(names))),
        timestamp=edit.timestamp,
        cwd=context.header.cwd or "",
    )
    data = session_of([_entry(edit, None)], header)
    return NewSession(session_id=header.session_id, name=file_name(header), data=data)


def undo_restore(
    lines: Lines, context: Context, *, entry_id: str, timestamp: str
) -> FileChange | None:
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
        note = new_note(context, UNDO_NOTE, data, entry_id=entry_id, timestamp=timestamp)
        return append_entry(lines, note | {"parentId": old.parent_id})
    note = new_note(context, UNDO_NOTE, data, entry_id=old.entry_id, timestamp=timestamp)
    new = json_line(note | {"parentId": old.parent_id})
    change = LineChange(offset=old_line.offset, old=old_line.raw, new=new)
    return Rewrite(changes=(change,), appended=b"")


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
    """Whether a message is a checkpoint of ours that no compaction or prune followed."""
    native = item.native
    is_ours = native.get("role") == "custom" and native.get("customType") == CHECKPOINT_MESSAGE
    return is_ours and item.is_after_boundary


def _line_of(entry_id: str, lines: Lines) -> tuple[Line, Entry] | None:
    for line in lines.backward():
        entry = read_entry(line, 3)
        if isinstance(entry, Entry) and entry.entry_id == entry_id:
            return line, entry
    return None
