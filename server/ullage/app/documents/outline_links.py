"""What the lines of a transcript lead to: files that are there, and checkpoints."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ullage.app.checkpoint.find import list_checkpoints
from ullage.app.documents.outline import Outlined, checkpoint_before, items_of, placed_compactions
from ullage.core.documents.in_context import presence
from ullage.core.documents.outline import Row
from ullage.core.facts.tool_calls import read_call
from ullage.core.transcript.message import ToolCall
from ullage.errors import StorageError
from ullage.store.files.places import Places

MAX_LINKED_ROWS = 500
"""Of a longer context, the newest calls are linked (chosen)."""
_MARK = re.compile(rb"compact\w*")
"""Stands in a record of a compaction of any agent; the word that becomes the link."""
_NETWORK = ("\\\\", "//")
"""How paths begin that Windows looks for on other machines: those are never looked at."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    line: int
    column: int
    """In UTF-16 units, as `end_column`."""
    end_column: int
    path: Path
    tooltip: str


def transcript_targets(found: Outlined, places: Places) -> tuple[Target, ...]:
    """List what can be opened from the lines in the context, in their order."""
    targets = [*_files(found), *_checkpoints(found, places)]
    return tuple(sorted(targets, key=lambda one: (one.line, one.column)))


def _files(found: Outlined) -> Iterator[Target]:
    rows = [
        row
        for row in found.outline.rows
        if row.calls and row.n_lines == 1 and presence(row, found.standing) == "live"
    ]
    known: dict[str, Path | None] = {}
    for row in rows[-MAX_LINKED_ROWS:]:
        raw = found.lines.read_line(row.offset, row.size_bytes).raw
        for name in _touched(found, row):
            if name not in known:
                known[name] = _existing(name, found.loaded.session.header.cwd)
            path = known[name]
            at = None if path is None else _find(raw, name)
            if path is not None and at is not None:
                yield _target(row, raw, at, path, "Open the file")


def _touched(found: Outlined, row: Row) -> tuple[str, ...]:
    touches = (
        touch.path
        for item in items_of(found, row)
        for block in item.message.blocks
        if isinstance(block, ToolCall)
        for touch in read_call(block).touches
    )
    return tuple(dict.fromkeys(touches))


def _existing(name: str, cwd: str | None) -> Path | None:
    if not name or name.startswith(_NETWORK):
        return None
    try:
        path = Path(name).expanduser()
        path = path if path.is_absolute() or cwd is None else Path(cwd) / path
        return path if path.is_absolute() and path.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def _find(raw: bytes, name: str) -> range | None:
    """Find a path in a line of JSON, or in JSON that is a text of it; not as part of a name."""
    once = msgspec.json.encode(name)[1:-1]
    twice = msgspec.json.encode(once.decode())[1:-1]
    for written in dict.fromkeys((once, twice)):
        found = re.search(rb"(?<![\w./~-])" + re.escape(written) + rb"(?![\w./-])", raw)
        if found is not None:
            return range(found.start(), found.end())
    return None


def _checkpoints(found: Outlined, places: Places) -> Iterator[Target]:
    placed = placed_compactions(found)
    try:
        newest_first = list_checkpoints(found.loaded.session, places).found if placed else ()
    except StorageError:
        return
    for one in placed:
        checkpoint = checkpoint_before(one, newest_first)
        raw = found.lines.read_line(one.row.offset, one.row.size_bytes).raw
        mark = _MARK.search(raw)
        if checkpoint is not None and mark is not None:
            tooltip = f"Open {checkpoint.checkpoint_id}, written before this compaction"
            yield _target(one.row, raw, range(*mark.span()), checkpoint.path, tooltip)


def _target(row: Row, raw: bytes, at: range, path: Path, tooltip: str) -> Target:
    column = _n_units(raw[: at.start])
    return Target(
        line=row.line,
        column=column,
        end_column=column + _n_units(raw[at.start : at.stop]),
        path=path,
        tooltip=tooltip,
    )


def _n_units(raw: bytes) -> int:
    return len(raw.decode("utf-8", "replace").encode("utf-16-le")) // 2
