"""What `ullage memory` prints of memory for people; its JSON is the values themselves."""

import re
from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

from ullage.core.memory.answer import MemoryAnswer, MemoryHit
from ullage.core.text.prose import gist

if TYPE_CHECKING:
    # What the other commands need, a search does not pay for.
    from ullage.app.memory.get import MemoryLines
    from ullage.app.memory.origins import ChangesReport, OutsideChange
    from ullage.app.memory.store import StoredItem

MAX_HIT_LINES = 8
"""Of one result; `ullage memory get` has the rest (chosen: six results fit on two screens)."""
_MIN_HEADING_CHARS = 20
_INDENT = "  "
_LINE_ENDS = re.compile(r"\n(?=[^\W\d_])(?!.*\n[^\n]*```)")
"""Within a paragraph, which is wrapped anew; what stands before or in a block of code is not."""


def answer_text(answer: MemoryAnswer, n_columns: int) -> str:
    """Write results one below the other, each with its place in the first line."""
    parts = ["\n".join(_write_hit(hit, n_columns)) for hit in answer.results]
    if answer.note is not None:
        parts.append(f"{answer.note[:1].upper()}{answer.note[1:]}")
    return "\n\n".join(parts)


def _write_hit(hit: MemoryHit, n_columns: int) -> Iterator[str]:
    place = f"{hit.path}:{hit.first_line}  {hit.score:.2f}  {hit.origin}"
    room = max(_MIN_HEADING_CHARS, n_columns - len(place) - 2)
    yield f"{place}  {gist(hit.heading, room)}".rstrip()
    lines = [
        part
        for line in _LINE_ENDS.sub(" ", hit.text).split("\n")
        if line.strip()
        for part in wrap(line, n_columns - len(_INDENT), break_on_hyphens=False)
    ]
    n_shown = MAX_HIT_LINES if len(lines) > MAX_HIT_LINES + 1 else len(lines)
    for line in lines[:n_shown]:
        yield f"{_INDENT}{line}"
    if n_shown < len(lines):
        yield f"{_INDENT}… {len(lines) - n_shown} more lines"


def lines_text(lines: "MemoryLines") -> str:
    """Write lines of a file with their numbers."""
    head = (
        f"{lines.path}, lines {lines.first_line:,} to {lines.last_line:,} of {lines.n_lines:,},"
        f" origin {lines.origin}"
    )
    numbered = (
        f"{number:>6}  {line}".rstrip()
        for number, line in enumerate(lines.text.split("\n"), lines.first_line)
    )
    return "\n".join((head, *numbered))


def stored_text(stored: "StoredItem") -> str:
    mark = "✓ " if stored.path is not None else ""
    return f"{mark}{stored.note[:1].upper()}{stored.note[1:]}\n{_INDENT}{stored.text}"


def changes_text(report: "ChangesReport") -> str:
    """Write the lines that came and went, as they are: who accepts them is to see all of it."""
    parts = ["\n".join(_write_change(change)) for change in report.changes]
    return "\n\n".join(parts) or "Nothing changed from outside"


def _write_change(change: "OutsideChange") -> Iterator[str]:
    what = "changed from outside" if change.sha256 else "is gone"
    yield f"{change.path} {what}"
    for number, line in change.added:
        yield f"{number:>6} + {_reveal(line)}"
    for line in change.removed:
        yield f"{'':>6} - {_reveal(line)}"


def _reveal(line: str) -> str:
    """Show also what a terminal would not."""
    return "".join(
        char if char.isprintable() or char == "\t" else f"\\u{{{ord(char):x}}}" for char in line
    )
