"""Truncation of a flat file: its header, the compaction, what that keeps (docs/design/sessions.md).

Each line that goes is told with the one before it, so that the file can be put together again.
"""

from ullage.core.change.edit import CompactionEdit, LineChange, Rewrite
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Line, Lines
from ullage.errors import Refused
from ullage.formats.agents.openclaw.compaction import flat_compaction
from ullage.formats.agents.openclaw.entries import Stub, read_stub
from ullage.formats.json_line import decode_object, with_value, write_line

MAX_BYTES = 64 * 1024 * 1024
"""What is taken out is noted in the receipt (chosen)."""


def truncate(lines: Lines, context: Context, edit: CompactionEdit) -> Rewrite:
    """Let the compaction follow the header, and what it keeps follow the compaction.

    Raises:
        Refused: more would go than a receipt holds.
    """
    compaction = flat_compaction(context, edit) | {"parentId": None}
    keeping = _Keeping(edit)
    changes: list[LineChange] = []
    before: Line | None = None
    is_placed = False
    n_bytes = 0
    for line in lines.forward():
        new = keeping.line_after(line)
        if not is_placed and keeping.is_at_entries:
            new, is_placed = write_line(compaction) + new, True
        elif not new and before is not None and changes[-1].offset != before.offset:
            changes.append(LineChange(offset=before.offset, old=before.raw, new=before.raw))
        if new != line.raw:
            changes.append(LineChange(offset=line.offset, old=line.raw, new=new))
            n_bytes += len(line.raw)
        before = line
    if n_bytes > MAX_BYTES:
        raise Refused(
            f"more than {MAX_BYTES // 2**20} MB would be taken out of the file: compact it without"
            " --truncate"
        )
    return Rewrite(changes=tuple(changes), appended=b"")


class _Keeping:
    """Which lines stay: the first kept entry, what hangs below it, and what is no entry."""

    def __init__(self, edit: CompactionEdit) -> None:
        self._first_kept_id = edit.first_kept_id
        self._parents: dict[str, str] = {}
        """Below what the children of a kept entry hang."""
        self._compaction_id = edit.entry_id
        self.is_at_entries = False
        """Whether the header was passed, and what else may stand above the first entry."""

    def line_after(self, line: Line) -> bytes:
        """Give a line as it stays; empty where it goes."""
        stub = read_stub(line)
        if not isinstance(stub, Stub):
            is_kept = stub is None or bool(self._parents) or not self.is_at_entries
            return line.raw if is_kept else b""
        self.is_at_entries = True
        entry_id, parent_id = stub.id or "", stub.parent_id or ""
        if entry_id == self._first_kept_id:
            parent = self._compaction_id
        elif parent_id in self._parents:
            parent = self._parents[parent_id]
        else:
            return b""
        if stub.type == "compaction":
            # An earlier one would count, as it would stand below ours.
            self._parents[entry_id] = parent
            return b""
        self._parents[entry_id] = entry_id
        return line.raw if parent == parent_id else with_value(line.raw, ("parentId",), parent)


def is_truncated(lines: Lines, compaction_line: Line) -> bool:
    """Whether the first entry that a compaction keeps stands below it."""
    native = decode_object(compaction_line)
    wanted = None if isinstance(native, str) else native.get("firstKeptEntryId")
    below = lines.forward(compaction_line.offset + len(compaction_line.raw))
    return any(isinstance(stub, Stub) and stub.id == wanted for stub in map(read_stub, below))
