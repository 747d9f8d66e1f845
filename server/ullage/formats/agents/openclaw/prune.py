"""Prunes of pi's and OpenClaw's sessions: placeholders, and the note behind them.

Lines change in place, for pi has no entry that all its versions would heed.
"""

from collections.abc import Sequence
from typing import cast

from ullage.core.change.edit import (
    PRUNED_IMAGE,
    PRUNED_OUTPUT,
    LineChange,
    PruneEdit,
    Replacement,
    Rewrite,
    n_pruned,
)
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Entry, Line, Lines
from ullage.core.transcript.message import JsonObject
from ullage.formats.agents.openclaw.notes import PRUNE_NOTE, json_line, new_note
from ullage.formats.agents.openclaw.seed_path import read_path_again
from ullage.formats.json_line import as_object, decode_object, object_of, text_of, with_value

_RESULT_ROLES = ("toolResult", "tool")


def prune_message(native: JsonObject, replacements: Sequence[Replacement]) -> JsonObject:
    """Put placeholders into a message in the agent's own shape; the rest stays as it is."""
    content = native.get("content")
    is_result = native.get("role") in _RESULT_ROLES
    call_id = (text_of(native, "toolCallId") or "") if is_result else None
    for replacement in replacements:
        if replacement.call_id != call_id:
            continue
        if replacement.what == "images":
            content = _without_images(content)
        elif is_result:
            content = PRUNED_OUTPUT if isinstance(content, str) else [_text_block(PRUNED_OUTPUT)]
    return native if content == native.get("content") else native | {"content": content}


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
    data: JsonObject = {
        "by": "ullage",
        "version": 1,
        "tokensBefore": edit.n_tokens_before,
        "tokensAfter": edit.n_tokens_after,
        "pruned": n_pruned(context.items, edit.replacements),
        # Of the changed lines in the file before: they tell one prune from another.
        "offsets": offsets,
    }
    note = new_note(context, PRUNE_NOTE, data, entry_id=edit.entry_id, timestamp=edit.timestamp)
    return Rewrite(changes=tuple(changes[offset] for offset in offsets), appended=json_line(note))


def _pruned_lines(lines: Lines, context: Context, edit: PruneEdit) -> list[LineChange]:
    wanted: dict[str, list[Replacement]] = {}
    for replacement in edit.replacements:
        wanted.setdefault(replacement.entry_id, []).append(replacement)
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


def _without_images(content: object) -> object:
    if not isinstance(content, list):
        return content
    return [
        _text_block(PRUNED_IMAGE) if (as_object(block) or {}).get("type") == "image" else block
        for block in cast(list[object], content)
    ]


def _text_block(text: str) -> JsonObject:
    return {"type": "text", "text": text}
