"""A prune taken back: the original lines at their places again, the rest as it is now."""

from collections.abc import Iterable, Sequence

from ullage.core.edit import LineChange, Rewrite
from ullage.core.transcript import Entry, Line, Lines
from ullage.formats.json_line import object_of, with_value
from ullage.formats.openclaw.entries import read_entry
from ullage.formats.openclaw.prune import PRUNE_TYPE, to_prune_record

UNDO_TYPE = "ullage.undo"


def undo_prune(lines: Lines, originals: Sequence[LineChange]) -> Rewrite | None:
    """Put the original lines of a prune back; None where they are not in the file any more.

    The record of the prune goes too where nothing follows it; else its entry stays, for others
    hang below it, and tells no prune any more.
    """
    pruned = {change.new for change in originals}
    places: dict[bytes, list[int]] = {}
    record: Line | None = None
    for line in lines.forward():
        if line.raw in pruned:
            places.setdefault(line.raw, []).append(line.offset)
        elif PRUNE_TYPE.encode() in line.raw and _is_record(line, originals):
            record = line
    changes = _changes_back(originals, places)
    if changes is None:
        return None
    is_last = record is not None and record.offset + len(record.raw) == lines.size_bytes
    if record is not None:
        new = b"" if is_last else _neutral(record)
        changes.append(LineChange(offset=record.offset, old=record.raw, new=new))
    end = record.offset if record is not None and is_last else lines.size_bytes
    return Rewrite(changes=tuple(_with_line_ends(changes, end)), appended=b"")


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
    return sorted(changes, key=lambda change: change.offset)


def _with_line_ends(changes: Iterable[LineChange], end: int) -> Iterable[LineChange]:
    """Let a line that had no end keep the one it got where something follows it now."""
    for change in changes:
        is_followed = change.offset + len(change.old) < end
        has_end = not change.new or change.new.endswith(b"\n")
        new = change.new if has_end or not is_followed else change.new + b"\n"
        yield LineChange(offset=change.offset, old=change.old, new=new)


def _is_record(line: Line, originals: Sequence[LineChange]) -> bool:
    """Whether a line is the record of this prune: it names the changed lines by their offsets."""
    entry = read_entry(line)
    if not isinstance(entry, Entry) or to_prune_record(entry) is None:
        return False
    data = object_of(entry.native, "data") or {}
    return data.get("offsets") == [change.offset for change in originals]


def _neutral(record: Line) -> bytes:
    entry = read_entry(record)
    key = "customType" if isinstance(entry, Entry) and "customType" in entry.native else "type"
    return with_value(record.raw, (key,), UNDO_TYPE)
