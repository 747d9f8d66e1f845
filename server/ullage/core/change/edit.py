"""Edits of a context, what they change in an agent's files, and the lines that follow.

A format turns an edit of the context into a change of files, and `store` alone makes it.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile, takewhile
from typing import Literal, TypeAlias

import msgspec

from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Image, JsonObject, Line, Lines, MemoryLines, ToolResult

PRUNED_OUTPUT = "[output pruned for context]"
"""Stands for a tool's output that was pruned (docs/design/prune.md, "The six rules")."""
PRUNED_IMAGE = "[image pruned for context]"


class Replacement(msgspec.Struct, frozen=True, kw_only=True):
    """Something old in a message that a placeholder stands for from now on."""

    entry_id: str
    what: Literal["output", "images"]
    """The whole output of a tool, or each image of the message."""
    call_id: str | None
    """The call whose result it is; None for the images of a message that is no result."""


class CompactionEdit(msgspec.Struct, frozen=True, kw_only=True):
    """A summary takes the place of all items before `first_kept_id`."""

    entry_id: str
    timestamp: str
    """RFC 3339 in UTC, to the millisecond."""
    summary: str
    first_kept_id: str
    n_tokens_before: int
    n_tokens_after: int | None
    """None in the draft from which the figure is taken."""
    details: JsonObject
    """The fields of docs/design/sessions.md, "Compaction events", and what the audit found."""


class PruneEdit(msgspec.Struct, frozen=True, kw_only=True):
    """Placeholders take the place of old tool output and images."""

    entry_id: str
    timestamp: str
    replacements: tuple[Replacement, ...]
    n_tokens_before: int
    n_tokens_after: int | None
    """None in the draft from which the figure is taken."""


class RestoreEdit(msgspec.Struct, frozen=True, kw_only=True):
    """The working state of a checkpoint goes to the end of a session, or begins one."""

    entry_id: str
    timestamp: str
    """RFC 3339 in UTC, to the millisecond."""
    checkpoint_id: str
    text: str
    """As the agent reads it."""


class UndoEdit(msgspec.Struct, frozen=True, kw_only=True):
    """The last change of a session is taken back."""

    entry_id: str
    """Of the note that says so, where the agent's files have notes."""
    timestamp: str


class NewHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What a session that we make says of itself."""

    session_id: str
    timestamp: str
    """RFC 3339 in UTC, to the millisecond."""
    cwd: str
    parent_path: str | None = None
    """Transcript that the session branches off."""


class Append(msgspec.Struct, frozen=True, kw_only=True):
    """Lines go to the end of the transcript."""

    data: bytes
    """Whole lines; begins with a line end where the last line of the transcript has none."""


class LineChange(msgspec.Struct, frozen=True, kw_only=True):
    offset: int
    old: bytes
    """The line as it stands there, its end included."""
    new: bytes
    """What takes its place, line ends included; empty where the line goes, and several lines where
    more come back."""


class Rewrite(msgspec.Struct, frozen=True, kw_only=True):
    """Some lines change, all others are copied byte for byte; the old file is kept beside it."""

    changes: tuple[LineChange, ...]
    """In the order of their offsets."""
    appended: bytes


class NewSession(msgspec.Struct, frozen=True, kw_only=True):
    """The session continues in a new file; the old one is not touched."""

    session_id: str
    name: str
    """Of the new file, which lies in the folder of the old one."""
    data: bytes


FileChange: TypeAlias = Append | Rewrite | NewSession


class AppendedLines(msgspec.Struct, frozen=True):
    """A transcript as it will be once some bytes are appended."""

    base: Lines
    appended: bytes
    """Whole lines; begins with a line end where the base's last line has none."""

    @property
    def size_bytes(self) -> int:
        return self.base.size_bytes + len(self.appended)

    def forward(self, start: int = 0) -> Iterator[Line]:
        n_base = self.base.size_bytes
        if start < n_base:
            yield from self.base.forward(start)
        for line in MemoryLines(self.appended).forward(max(0, start - n_base)):
            yield Line(n_base + line.offset, line.raw)

    def backward(self) -> Iterator[Line]:
        for line in MemoryLines(self.appended).backward():
            yield Line(self.base.size_bytes + line.offset, line.raw)
        yield from self.base.backward()


class LinesBefore(msgspec.Struct, frozen=True):
    """A transcript as it was when it was shorter."""

    base: Lines
    size_bytes: int
    """Where it ended, at the end of a line."""

    def forward(self, start: int = 0) -> Iterator[Line]:
        return takewhile(lambda line: line.offset < self.size_bytes, self.base.forward(start))

    def backward(self) -> Iterator[Line]:
        return dropwhile(lambda line: line.offset >= self.size_bytes, self.base.backward())


class RewrittenLines(msgspec.Struct, frozen=True):
    """A transcript as it will be once some of its lines are replaced."""

    base: Lines
    changes: tuple[LineChange, ...]
    """In the order of their offsets."""

    @property
    def size_bytes(self) -> int:
        return self.base.size_bytes + sum(_growth(change) for change in self.changes)

    def forward(self, start: int = 0) -> Iterator[Line]:
        """Yield the lines from the one that begins at `start` of the rewritten file on."""
        n_grown = 0
        ahead = 0
        base_start = start
        while ahead < len(self.changes):
            change = self.changes[ahead]
            if change.offset + n_grown + len(change.new) > start:
                # One of several lines that stand for this one may be meant.
                base_start = min(start, change.offset + n_grown)
                break
            n_grown += _growth(change)
            ahead += 1
        at = {change.offset: change for change in self.changes[ahead:]}
        for line in self.base.forward(base_start - n_grown):
            change = at.get(line.offset)
            raw = line.raw if change is None else change.new
            for part in MemoryLines(raw).forward():
                if line.offset + n_grown + part.offset >= start:
                    yield Line(line.offset + n_grown + part.offset, part.raw)
            n_grown += 0 if change is None else _growth(change)

    def backward(self) -> Iterator[Line]:
        at = {change.offset: change for change in self.changes}
        n_grown = sum(_growth(change) for change in self.changes)
        for line in self.base.backward():
            change = at.get(line.offset)
            n_grown -= 0 if change is None else _growth(change)
            raw = line.raw if change is None else change.new
            for part in MemoryLines(raw).backward():
                yield Line(line.offset + n_grown + part.offset, part.raw)


def group_by_entry(replacements: Iterable[Replacement]) -> dict[str, list[Replacement]]:
    grouped: dict[str, list[Replacement]] = {}
    for replacement in replacements:
        grouped.setdefault(replacement.entry_id, []).append(replacement)
    return grouped


def count_pruned(items: Iterable[ContextItem], replacements: Iterable[Replacement]) -> int:
    """Count the outputs and images that placeholders take the place of."""
    n_images: dict[tuple[str, str | None], int] = {}
    for item in items:
        for block in item.message.blocks:
            call_id = block.call_id if isinstance(block, ToolResult) else None
            parts = block.content if isinstance(block, ToolResult) else (block,)
            key = (item.entry_id, call_id)
            n_found = sum(isinstance(part, Image) for part in parts)
            n_images[key] = n_images.get(key, 0) + n_found
    return sum(
        n_images.get((r.entry_id, r.call_id), 0) if r.what == "images" else 1 for r in replacements
    )


def put_back(lines: Lines, originals: Sequence[LineChange]) -> FileChange | None:
    """Give a rewritten file its old lines back; None where they do not stand as they were left.

    What came since stays behind them.
    """
    changes: list[LineChange] = []
    appended = b""
    n_shift = 0
    for change in originals:
        at = change.offset + n_shift
        *added, last = MemoryLines(change.new).forward() if change.new else (None,)
        changes += [LineChange(offset=at + line.offset, old=line.raw, new=b"") for line in added]
        if last is not None:
            changes.append(LineChange(offset=at + last.offset, old=last.raw, new=change.old))
        elif changes and changes[-1].offset + len(changes[-1].old) == at:
            new = changes[-1].new + change.old
            changes[-1] = msgspec.structs.replace(changes[-1], new=new)
        elif at == lines.size_bytes:
            appended += change.old
        else:
            return None
        n_shift += len(change.new) - len(change.old)
    for change in changes:
        line = next(lines.forward(change.offset), None)
        if line is None or line.raw != change.old:
            return None
    return Rewrite(changes=tuple(changes), appended=appended) if changes else Append(data=appended)


def take_off(lines: Lines, size_bytes: int) -> Rewrite:
    """Take the lines away that were appended to a file of that size."""
    return Rewrite(
        changes=tuple(
            LineChange(offset=line.offset, old=line.raw, new=b"")
            for line in lines.forward(size_bytes)
            # The end of a line that had none stays.
            if line.raw.strip()
        ),
        appended=b"",
    )


def apply_to_lines(base: Lines, change: FileChange) -> Lines:
    """Give the lines of the file that a change leads to."""
    match change:
        case Append():
            return AppendedLines(base, change.data)
        case Rewrite():
            return AppendedLines(RewrittenLines(base, change.changes), change.appended)
        case NewSession():
            return MemoryLines(change.data)


def _growth(change: LineChange) -> int:
    return len(change.new) - len(change.old)
