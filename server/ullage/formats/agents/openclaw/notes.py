"""What Ullage notes in a transcript: prunes, and what was taken back of them.

A note is of a type that the agent passes over: a `custom` entry in the trees of pi and of flat
files, an event of an unknown type in event files. It tells which usages still hold.
"""

from collections.abc import Sequence

import msgspec

from ullage.core.change.edit import PruneEdit, UndoEdit
from ullage.core.transcript.context import Context, PruneRecord
from ullage.core.transcript.entries import Entry
from ullage.core.transcript.message import JsonObject
from ullage.formats.agents.openclaw.entries import in_ms
from ullage.formats.json_line import compact_json, iso_ms, ms_of, object_of, text_of
from ullage.formats.notes import to_prune_record

PRUNE_NOTE = "ullage.prune"
UNDO_NOTE = "ullage.undo"


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
    native = entry.native
    is_undone = note_key(native, UNDO_NOTE) is not None and "until" in _data(entry)
    return is_undone or note_key(native, PRUNE_NOTE) is not None


def notes_of(after: Sequence[Entry]) -> Notes:
    """Read the notes that follow the boundary.

    What was taken back keeps its place in the file, and notes until where the file went then.
    """
    places = {entry.entry_id: at for at, entry in enumerate(after)}
    notes = Notes(stale=(), is_figure_stale=False, pruned=None)
    last_until = -1
    for at, entry in enumerate(after):
        if not is_note(entry):
            continue
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
    return n_ms if last is None or in_ms(last) == last else n_ms // 1000


def json_line(entry: JsonObject) -> bytes:
    return compact_json(entry).encode() + b"\n"


def _to_prune_record(entry: Entry) -> PruneRecord:
    data = _data(entry)
    at_ms = ms_of({"timestamp": in_ms(entry.native.get("timestamp"))}) or ms_of(data)
    return to_prune_record(data, entry.entry_id, at_ms)


def _data(entry: Entry) -> JsonObject:
    return object_of(entry.native, "data") or {}
