"""Compactions and prunes taken back in pi's and OpenClaw's sessions.

pi goes on from before its compaction, which stays beside the path. In the files of S0 and S3 the
last compaction counts wherever it stands, so there its line goes. A line that something follows
becomes a note instead: others may hang below it, and usages since tell of the shorter context.
"""

from collections.abc import Iterator, Sequence

from ullage.core.change.edit import Append, FileChange, LineChange, Rewrite
from ullage.core.transcript.context import Compaction, Context
from ullage.core.transcript.entries import Entry, Line, Lines
from ullage.core.transcript.message import JsonObject
from ullage.errors import Refused
from ullage.formats.agents.openclaw.notes import (
    PRUNE_NOTE,
    UNDO_NOTE,
    json_line,
    new_note,
    note_key,
    undo_data,
)
from ullage.formats.agents.openclaw.seed_path import read_event, read_path_again
from ullage.formats.json_line import decode_object, object_of, with_value


def undo_compaction(
    lines: Lines, context: Context, compaction: Compaction, *, entry_id: str, timestamp: str
) -> FileChange:
    data: JsonObject = {"compaction": compaction.entry_id}
    if not context.header.dialect:
        if _went_on(lines, context):
            raise Refused(
                "the session went on after its last compaction, and undoing it would hide what"
                " followed: go back in the agent itself (pi: /tree), or branch off from before it"
                " (ullage context branch)"
            )
        note = new_note(context, UNDO_NOTE, data, entry_id=entry_id, timestamp=timestamp)
        return append_entry(lines, note | {"parentId": compaction.parent_id})
    line = _compaction_line(lines, context, compaction)
    new = b""
    if not _is_last(line, lines):
        data = undo_data(data, _last_id(lines))
        note = new_note(context, UNDO_NOTE, data, entry_id=entry_id, timestamp=timestamp)
        new = json_line(note | _place_in_tree(line))
    return Rewrite(changes=(LineChange(offset=line.offset, old=line.raw, new=new),), appended=b"")


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
        is_last = _is_last(note, lines)
        new = b"" if is_last else _taken_back(note, _last_id(lines))
        end = note.offset if is_last else end
        changes.append(LineChange(offset=note.offset, old=note.raw, new=new))
    changes.sort(key=lambda change: change.offset)
    return Rewrite(changes=tuple(_with_line_ends(changes, end)), appended=b"")


def append_entry(lines: Lines, entry: JsonObject) -> Append:
    """Append an entry, behind a line end where the last line of the transcript has none."""
    last = next(lines.backward(), None)
    is_torn = last is not None and last.is_torn
    return Append(data=b"\n" + json_line(entry) if is_torn else json_line(entry))


def _went_on(lines: Lines, context: Context) -> bool:
    """Whether anything follows the boundary but our own notes, which may be hidden with it.

    Not messages alone: an edit of a message or a change of the model would be lost as well.
    """
    kinds = (PRUNE_NOTE, UNDO_NOTE)
    return any(
        all(note_key(entry.native, kind) is None for kind in kinds)
        for entry in read_path_again(lines, context).after
    )


def _compaction_line(lines: Lines, context: Context, compaction: Compaction) -> Line:
    refs = reversed(context.compactions)
    ref = next(one for one in refs if one.entry_id == compaction.entry_id)
    return next(lines.forward(ref.offset))


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


def _is_last(line: Line, lines: Lines) -> bool:
    return line.offset + len(line.raw) == lines.size_bytes


def _last_id(lines: Lines) -> str:
    found = (read_event(line) for line in lines.backward())
    return next((entry.entry_id for entry in found if isinstance(entry, Entry)), "")
