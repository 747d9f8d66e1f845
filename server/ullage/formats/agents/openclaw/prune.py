"""Prunes of pi's and OpenClaw's sessions, made and taken back: placeholders, and a note.

Lines change in place, for pi has no entry that all its versions would heed.
"""

from collections.abc import Iterator, Sequence

from ullage.core.change.edit import LineChange, PruneEdit, Replacement, Rewrite, by_entry
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Entry, Line, Lines
from ullage.core.transcript.message import JsonObject
from ullage.formats.agents.openclaw.messages import prune_message
from ullage.formats.agents.openclaw.notes import (
    PRUNE_NOTE,
    UNDO_NOTE,
    json_line,
    new_note,
    note_key,
    undo_data,
)
from ullage.formats.agents.openclaw.path import is_last, last_id, read_path_again
from ullage.formats.json_line import decode_object, object_of, text_of, with_value
from ullage.formats.notes import prune_figures


def prune(lines: Lines, context: Context, edit: PruneEdit) -> Rewrite:
    """Put placeholders into the entries and a note of it behind them.

    `details` beside an output stay: pi keeps up to 50 KB of it there (`truncation.content`),
    which it never sends. Edits of a pruned entry (`context_edit`) get the placeholder as well.
    """
    changes = {change.offset: change for change in _pruned_lines(lines, context, edit)}
    last = next(lines.backward(), None)
    if last is not None and last.is_torn:
        new = changes[last.offset].new if last.offset in changes else last.raw
        changes[last.offset] = LineChange(offset=last.offset, old=last.raw, new=new + b"\n")
    offsets = sorted(changes)
    # Of the changed lines in the file before: they tell one prune from another.
    figures = prune_figures(context, edit) | {"offsets": offsets}
    data: JsonObject = {"by": "ullage", "version": 1, **figures}
    note = new_note(context, PRUNE_NOTE, data, edit)
    return Rewrite(changes=tuple(changes[offset] for offset in offsets), appended=json_line(note))


def undo_prune(lines: Lines, originals: Sequence[LineChange]) -> Rewrite | None:
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
        new = b"" if is_at_end else _taken_back(note, last_id(lines))
        end = note.offset if is_at_end else end
        changes.append(LineChange(offset=note.offset, old=note.raw, new=new))
    changes.sort(key=lambda change: change.offset)
    return Rewrite(changes=tuple(_with_line_ends(changes, end)), appended=b"")


def _pruned_lines(lines: Lines, context: Context, edit: PruneEdit) -> list[LineChange]:
    wanted = by_entry(edit.replacements)
    path = read_path_again(lines, context)
    entries = (*path.kept, *path.after)
    messages = {entry.entry_id: object_of(entry.native, "message") or {} for entry in entries}
    changes: list[LineChange] = []
    for entry in entries:
        target_id = _target_id(entry)
        if target_id not in wanted:
            continue
        line = next(lines.forward(entry.offset))
        new = _pruned_line(line, messages.get(target_id, {}), wanted[target_id])
        if new != line.raw:
            changes.append(LineChange(offset=line.offset, old=line.raw, new=new))
    return changes


def _target_id(entry: Entry) -> str:
    """Name the entry whose message an entry holds or replaces."""
    if entry.kind == "context_edit":
        return text_of(entry.native, "targetId") or ""
    return entry.entry_id


def _pruned_line(line: Line, target: JsonObject, replacements: Sequence[Replacement]) -> bytes:
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
        found = min(free, key=lambda offset: abs(offset - expected))
        free.remove(found)
        changes.append(LineChange(offset=found, old=change.new, new=change.old))
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


def _taken_back(note: Line, until: str) -> bytes:
    """Give the line of a note that says from now on that its prune was taken back."""
    native = decode_object(note)
    key = None if isinstance(native, str) else note_key(native, PRUNE_NOTE)
    if isinstance(native, str) or key is None:
        return note.raw
    data = undo_data(object_of(native, "data") or {}, until)
    return with_value(with_value(note.raw, (key,), UNDO_NOTE), ("data",), data)
