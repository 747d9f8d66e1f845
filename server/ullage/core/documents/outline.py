"""The outline of a transcript: what each line of its file is, found by line and by offset."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeAlias

import msgspec

from ullage.core.facts.tool_calls import read_call
from ullage.core.text.prose import gist
from ullage.core.transcript.context import Category, ContextItem, Sketch
from ullage.core.transcript.entries import Line, Problem, ToolCall, plain_text
from ullage.core.transcript.speech import read_speech

RowKind: TypeAlias = Category | Literal["compaction", "note", "unreadable"]
"""What a line adds to the context; a note adds nothing."""

TITLE_CHARS = 80
READ_CHARS = 2_000
"""How much of a text is read, and masked, for its title: no secret reaches out of it (chosen)."""


class OutlineRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One line of the file; there may be a hundred thousand, which the collector passes over."""

    line: int
    """As editors count, from 0; a lone CR is a line end for them."""
    n_lines: int
    offset: int
    size_bytes: int
    entry_id: str
    parent_id: str | None
    kind: RowKind
    title: str
    """What the user said, masked; empty for other kinds."""
    calls: tuple[str, ...]
    """The calls of tools in it, masked."""
    at_ms: int | None

    @property
    def last_line(self) -> int:
        return self.line + self.n_lines - 1


class Outline(msgspec.Struct, frozen=True, kw_only=True):
    """The lines of a file that hold anything, in their order."""

    rows: tuple[OutlineRow, ...]
    n_lines: int
    """Lines so far, as editors count; those that are blank have no row."""


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A turn, or a compaction and what stands between it and the next turn."""

    head: OutlineRow
    rows: tuple[OutlineRow, ...]
    """The head and what follows it."""

    @property
    def last_line(self) -> int:
        return self.rows[-1].last_line


EMPTY_OUTLINE = Outline(rows=(), n_lines=0)


def extend_outline(
    outline: Outline,
    lines: Iterable[Line],
    sketch: Callable[[Line], Sketch | Problem | None],
    clean: Callable[[str], str],
) -> Outline:
    """Add the lines that follow those of an outline; `clean` masks what is shown of them."""
    rows = list(outline.rows)
    n_lines = outline.n_lines
    for line in lines:
        height = count_editor_lines(line.raw)
        entry = sketch(line)
        if entry is not None:
            rows.append(_make_row(entry, line, n_lines, height, clean))
        n_lines += height
    return Outline(rows=tuple(rows), n_lines=n_lines)


def count_editor_lines(raw: bytes) -> int:
    """Count the lines that an editor shows for one line of a file."""
    n_returns = raw.count(b"\r")
    return 1 if not n_returns else 1 + n_returns - raw.count(b"\r\n")


def find_row_at_line(outline: Outline, line: int) -> OutlineRow | None:
    at = bisect_right(outline.rows, line, key=_line_of) - 1
    row = outline.rows[at] if at >= 0 else None
    return row if row is not None and line <= row.last_line else None


def find_row_at_offset(outline: Outline, offset: int) -> OutlineRow | None:
    at = bisect_left(outline.rows, offset, key=_offset_of)
    row = outline.rows[at] if at < len(outline.rows) else None
    return row if row is not None and row.offset == offset else None


def list_rows_between(outline: Outline, first_line: int, last_line: int) -> tuple[OutlineRow, ...]:
    """List the rows that begin on these lines, both ends included."""
    start = bisect_left(outline.rows, first_line, key=_line_of)
    return outline.rows[start : bisect_right(outline.rows, last_line, key=_line_of)]


def cut_sections(outline: Outline) -> Iterator[Section]:
    """Cut the rows at each message of the user's and at each compaction."""
    rows = outline.rows
    heads = [at for at, row in enumerate(rows) if row.kind in ("user", "compaction")]
    for start, end in zip(heads, [*heads[1:], len(rows)], strict=True):
        yield Section(head=rows[start], rows=rows[start:end])


def write_call_title(call: ToolCall) -> str:
    """Name a call by its tool and the files or the command that it is about."""
    facts = read_call(call)
    about = facts.command or ", ".join(dict.fromkeys(touch.path for touch in facts.touches))
    return f"{call.name} {about}".rstrip()


def _make_row(
    entry: Sketch | Problem, line: Line, number: int, height: int, clean: Callable[[str], str]
) -> OutlineRow:
    if isinstance(entry, Problem):
        entry, kind = _UNREAD, "unreadable"
    else:
        kind = _read_kind(entry)
    blocks = () if entry.item is None else entry.item.message.blocks
    titles = (write_call_title(block) for block in blocks if isinstance(block, ToolCall))
    return OutlineRow(
        line=number,
        n_lines=height,
        offset=line.offset,
        size_bytes=len(line.raw),
        entry_id=entry.entry_id,
        parent_id=entry.parent_id,
        kind=kind,
        title=_shorten_clean(_read_text(entry.item), clean) if kind == "user" else "",
        calls=tuple(_shorten_clean(title, clean) for title in titles),
        at_ms=entry.at_ms,
    )


_UNREAD = Sketch(entry_id="", parent_id=None, item=None, is_compaction=False, at_ms=None)


def _read_kind(entry: Sketch) -> RowKind:
    if entry.is_compaction:
        return "compaction"
    return "note" if entry.item is None else entry.item.category


def _read_text(item: ContextItem | None) -> str:
    if item is None:
        return ""
    return read_speech(item, "typed") or plain_text(item.message)


def _shorten_clean(text: str, clean: Callable[[str], str]) -> str:
    return gist(clean(text[:READ_CHARS]), TITLE_CHARS)


def _line_of(row: OutlineRow) -> int:
    return row.line


def _offset_of(row: OutlineRow) -> int:
    return row.offset
