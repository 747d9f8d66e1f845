"""Edits of pi's sessions: what they change in the file.

A compaction is appended; so is what takes it back, as an entry that goes on from before it. A
prune changes the pruned lines in place, for pi has no entry that all its versions would heed.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from ullage.core.context import Compaction, Context
from ullage.core.edit import (
    Append,
    CompactionEdit,
    FileChange,
    LineChange,
    PruneEdit,
    Replacement,
    Rewrite,
)
from ullage.core.index import Index
from ullage.core.message import JsonObject
from ullage.core.transcript import Entry, Header, Line, Lines
from ullage.formats.json_line import compact_json, decode_object, object_of, text_of, with_value
from ullage.formats.openclaw.compaction import compaction_entry
from ullage.formats.openclaw.prune import PRUNE_TYPE, prune_data, prune_message
from ullage.formats.openclaw.seed_path import read_active_path
from ullage.formats.openclaw.undo_prune import UNDO_TYPE, undo_prune

__all__ = [
    "compact",
    "prune",
    "refuse_edit",
    "resume_command",
    "undo_compaction",
    "undo_prune",
]

WRITABLE_VERSION = 3


def refuse_edit(header: Header) -> str | None:
    """Say why a session's files cannot be changed; None where they can."""
    if header.dialect:
        return "Ullage does not append to this kind of session yet; it was not written by pi"
    if header.version == WRITABLE_VERSION:
        return None
    if header.version > WRITABLE_VERSION:
        return "OpenClaw keeps such sessions itself: compact there with /compact"
    return "this pi session has an old format: open it once in pi, which brings it up to date"


def compact(lines: Lines, context: Context, edit: CompactionEdit) -> FileChange:
    return _append(lines, compaction_entry(context, edit))


def undo_compaction(
    lines: Lines, context: Context, compaction: Compaction, *, entry_id: str, timestamp: str
) -> FileChange:
    del context
    return _append(
        lines,
        {
            "type": "custom",
            "customType": UNDO_TYPE,
            "data": {"compaction": compaction.entry_id},
            "id": entry_id,
            "parentId": compaction.parent_id,
            "timestamp": timestamp,
        },
    )


def prune(lines: Lines, context: Context, edit: PruneEdit) -> FileChange:
    """Put placeholders into the entries and the record of it behind them.

    `details` beside an output stay: pi keeps up to 50 KB of it there (`truncation.content`),
    which it never sends. Edits of a pruned entry (`context_edit`) get the placeholder as well.
    """
    changes = {change.offset: change for change in _pruned_lines(lines, context, edit)}
    last = next(lines.backward(), None)
    if last is not None and last.is_torn:
        new = changes[last.offset].new if last.offset in changes else last.raw
        changes[last.offset] = LineChange(offset=last.offset, old=last.raw, new=new + b"\n")
    record: JsonObject = {
        "type": "custom",
        "customType": PRUNE_TYPE,
        "data": prune_data(context, edit, sorted(changes)),
        "id": edit.entry_id,
        "parentId": context.leaf_id,
        "timestamp": edit.timestamp,
    }
    in_order = tuple(changes[offset] for offset in sorted(changes))
    return Rewrite(changes=in_order, appended=_line(record))


def resume_command(header: Header, path: Path) -> str:
    """Give the command by which a user goes on with a session."""
    del header
    return f"pi --session {shlex.quote(str(path))}"


def _pruned_lines(lines: Lines, context: Context, edit: PruneEdit) -> list[LineChange]:
    wanted: dict[str, list[Replacement]] = {}
    for replacement in edit.replacements:
        wanted.setdefault(replacement.entry_id, []).append(replacement)
    known = Index(
        covered_bytes=lines.size_bytes,
        n_entries=context.n_entries,
        compactions=context.compactions,
    )
    path = read_active_path(lines, context.header, known)
    entries = (*path.kept, *path.after)
    messages = {entry.entry_id: object_of(entry.native, "message") or {} for entry in entries}
    changes: list[LineChange] = []
    for entry in entries:
        target_id = _target_id(entry)
        line = next(lines.forward(entry.offset))
        new = _pruned_line(line, messages.get(target_id, {}), wanted.get(target_id, ()))
        if new != line.raw:
            changes.append(LineChange(offset=line.offset, old=line.raw, new=new))
    return changes


def _target_id(entry: Entry) -> str:
    if entry.kind == "context_edit":
        return text_of(entry.native, "targetId") or ""
    return entry.entry_id


def _pruned_line(
    line: Line, target: Mapping[str, object], replacements: Sequence[Replacement]
) -> bytes:
    """Put placeholders into a message where it stands, or into what an edit makes of it."""
    native = decode_object(line) if replacements else ""
    if isinstance(native, str):
        return line.raw
    for key in ("message", "replacement"):
        inner = object_of(native, key)
        if inner is not None:
            holder, keys = {**target, **inner}, (key, "content")
            break
    else:
        holder, keys = native, ("content",)
    pruned = prune_message(holder, replacements)
    return line.raw if pruned is holder else with_value(line.raw, keys, pruned["content"])


def _append(lines: Lines, entry: JsonObject) -> Append:
    """Append an entry, behind a line end where the last line of the transcript has none."""
    last = next(lines.backward(), None)
    is_torn = last is not None and last.is_torn
    return Append(data=b"\n" + _line(entry) if is_torn else _line(entry))


def _line(entry: JsonObject) -> bytes:
    return compact_json(entry).encode() + b"\n"
