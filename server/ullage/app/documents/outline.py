"""The outline of a transcript, its lines matched with its context; made longer as it grows."""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import takewhile
from pathlib import Path

import msgspec

from ullage.app.checkpoint.find import SavedCheckpoint, list_checkpoints
from ullage.app.sessions.load import Loaded
from ullage.core.documents.in_context import ContextMatch, find_presence, match_context
from ullage.core.documents.outline import (
    EMPTY_OUTLINE,
    Outline,
    OutlineRow,
    extend_outline,
    find_row_at_offset,
    list_rows_between,
)
from ullage.core.facts.tool_calls import read_call
from ullage.core.memory.quoted import CitedLines, find_cited_lines
from ullage.core.secrets.scan import mask
from ullage.core.text.positions import utf16_length
from ullage.core.transcript.context import Compaction, ContextItem, Sketch
from ullage.core.transcript.entries import Line, Problem, ToolCall, ToolResult
from ullage.core.transcript.recalled import MEMORY_TAG
from ullage.core.transcript.tokens import count_message, estimate_tokens
from ullage.errors import StorageError
from ullage.store.files.places import Places
from ullage.store.transcript.reader import FileLines, Mark, mark_at, read_appended

MAX_ESTIMATED_CHARS = 4_000
"""Of a longer text the beginning is estimated, and the rest by its length (chosen)."""
MAX_LINES_BACK = 50
"""How far before a result its call is looked for (chosen): parallel calls stand that near."""
MAX_CITING_BYTES = 256 * 1024
"""A longer line is no answer of memory: those have some 20,000 characters at most."""
MAX_LINKED_ROWS = 500
"""Of a longer context, the newest calls are linked (chosen)."""
_MARK = re.compile(rb"compact\w*")
"""Stands in a record of a compaction of any agent; the word that becomes the link."""
_NETWORK = ("\\\\", "//")
"""How paths begin that Windows looks for on other machines: those are never looked at."""


class OutlinedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session and the lines of its file."""

    loaded: Loaded
    lines: FileLines
    whole: Outline
    """What the finished lines alone say."""
    outline: Outline
    standing: ContextMatch
    mark: Mark


class EntryTokens(msgspec.Struct, frozen=True):
    n_tokens: int
    is_estimated: bool


class PlacedCompaction(msgspec.Struct, frozen=True, kw_only=True):
    """A compaction on the path, and its line."""

    row: OutlineRow
    compaction: Compaction
    n_before: int
    """Compactions before it."""
    is_last: bool


class LinkTarget(msgspec.Struct, frozen=True, kw_only=True):
    line: int
    column: int
    """In UTF-16 units, as `end_column`."""
    end_column: int
    path: Path
    tooltip: str
    first_line: int | None = None
    """Of the file, from 1; None for all of it."""
    last_line: int | None = None


def outline_of(loaded: Loaded, before: OutlinedSession | None) -> OutlinedSession | None:
    """Read the lines of a session's file, or those that are new; None where it has no lines.

    Takes some 4 ms for each megabyte that is new (`benchmarks/editor.py`).

    Raises:
        Unreadable, NotATranscript: the file is not what it was.
    """
    lines = loaded.session.lines
    if not isinstance(lines, FileLines) or loaded.session.agent.sketch is None:
        return None
    appended = None if before is None else read_appended(lines.path, before.mark)
    if before is None or appended is None:
        last = next(lines.backward())
        unfinished = last if last.is_torn else None
        whole, finished = EMPTY_OUTLINE, takewhile(lambda line: not line.is_torn, lines.forward())
        mark = mark_at(lines, last.offset if last.is_torn else lines.size_bytes)
    else:
        whole, finished = before.whole, appended.lines
        unfinished, mark, lines = appended.unfinished, appended.mark, appended.source
    add = partial(_add_lines, loaded)
    whole = add(whole, finished)
    outline = whole if unfinished is None else add(whole, (unfinished,))
    return OutlinedSession(
        loaded=loaded,
        lines=lines,
        whole=whole,
        outline=outline,
        standing=match_context(outline, loaded.context, loaded.status.gauge),
        mark=mark,
    )


def items_of(outlined: OutlinedSession, row: OutlineRow) -> tuple[ContextItem, ...]:
    """Give the messages of a line: as the context has them, else as the line says.

    Raises:
        Unreadable: the file is not as long as it was.
    """
    live = outlined.standing.live.get(row.entry_id) if row.entry_id else None
    if live is not None:
        return live.items
    sketch = _sketch(outlined.loaded, outlined.lines.read_line(row.offset, row.size_bytes))
    return (sketch.item,) if isinstance(sketch, Sketch) and sketch.item else ()


def find_answered_calls(outlined: OutlinedSession, row: OutlineRow) -> tuple[str, ...]:
    """Name the calls that the results of a line answer, masked; they stand not far before it."""
    results = [
        block
        for item in items_of(outlined, row)
        for block in item.message.blocks
        if isinstance(block, ToolResult)
    ]
    titles: dict[str, str] = {}
    before = list_rows_between(outlined.outline, max(row.line - MAX_LINES_BACK, 0), row.line - 1)
    for earlier in reversed(before):
        if all(result.call_id in titles for result in results):
            break
        if earlier.calls:
            titles = dict(zip(_call_ids(outlined, earlier), earlier.calls, strict=False)) | titles
    names = (titles.get(result.call_id, result.name) for result in results)
    return tuple(title for title in names if title)


def _call_ids(outlined: OutlinedSession, row: OutlineRow) -> Iterator[str]:
    for item in items_of(outlined, row):
        for block in item.message.blocks:
            if isinstance(block, ToolCall):
                yield block.call_id


def count_tokens(outlined: OutlinedSession, items: Iterable[ContextItem]) -> int:
    """Count messages with the session's tokenizer."""
    return sum(count_message(item.message, outlined.loaded.count) for item in items)


def find_known_tokens(outlined: OutlinedSession, items: Iterable[ContextItem]) -> EntryTokens:
    """Give the tokens of messages without counting: as counted before, else estimated."""
    is_estimated = False

    def count(text: str) -> int:
        nonlocal is_estimated
        n_tokens = outlined.loaded.count.known(text)
        if n_tokens is not None:
            return n_tokens
        is_estimated = True
        head = text[:MAX_ESTIMATED_CHARS]
        return estimate_tokens(head) * len(text) // len(head)

    n_tokens = sum(count_message(item.message, count) for item in items)
    return EntryTokens(n_tokens, is_estimated)


def place_compactions(outlined: OutlinedSession) -> tuple[PlacedCompaction, ...]:
    """Read the compactions on the path, oldest first, with their lines."""
    session, refs = outlined.loaded.session, outlined.loaded.context.compactions
    placed: list[PlacedCompaction] = []
    for n_before, ref in enumerate(refs):
        row = find_row_at_offset(outlined.outline, ref.offset)
        compaction = session.agent.read_compaction(outlined.lines, ref)
        if row is not None and compaction is not None:
            is_last = ref is refs[-1] and outlined.loaded.context.boundary is not None
            placed.append(
                PlacedCompaction(row=row, compaction=compaction, n_before=n_before, is_last=is_last)
            )
    return tuple(placed)


def find_checkpoint_before(
    placed: PlacedCompaction, newest_first: Iterable[SavedCheckpoint]
) -> SavedCheckpoint | None:
    """Find the last checkpoint that was written before a compaction."""
    counts = (entry for entry in newest_first if _n_compactions(entry) == placed.n_before)
    return next(counts, None)


def _n_compactions(entry: SavedCheckpoint) -> int:
    return entry.checkpoint.meta.compaction_count


def _add_lines(loaded: Loaded, outline: Outline, lines: Iterable[Line]) -> Outline:
    secrets = loaded.known_secrets
    sketch = partial(_sketch, loaded)
    return extend_outline(outline, lines, sketch, lambda text: mask(text, secrets))


def _sketch(loaded: Loaded, line: Line) -> Sketch | Problem | None:
    sketch = loaded.session.agent.sketch
    return None if sketch is None else sketch(line, loaded.session.header)


def find_targets(outlined: OutlinedSession, places: Places) -> tuple[LinkTarget, ...]:
    """List what can be opened from the lines in the context, in their order."""
    targets = [*_files(outlined), *_recalled(outlined), *_checkpoints(outlined, places)]
    return tuple(sorted(targets, key=lambda target: (target.line, target.column)))


def _files(outlined: OutlinedSession) -> Iterator[LinkTarget]:
    rows = [
        row
        for row in outlined.outline.rows
        if row.calls and row.n_lines == 1 and find_presence(row, outlined.standing) == "live"
    ]
    paths: dict[str, Path | None] = {}
    for row in rows[-MAX_LINKED_ROWS:]:
        raw = outlined.lines.read_line(row.offset, row.size_bytes).raw
        for name in _list_touched(outlined, row):
            if name not in paths:
                paths[name] = _find_existing(name, outlined.loaded.session.header.cwd)
            path = paths[name]
            at = None if path is None else _find(raw, name)
            if path is not None and at is not None:
                yield _target(row, raw, at, path, "Open the file")


def _recalled(outlined: OutlinedSession) -> Iterator[LinkTarget]:
    rows = [row for row in outlined.outline.rows if row.kind == "tool results"]
    cwd = outlined.loaded.session.header.cwd
    for row in rows[-MAX_LINKED_ROWS:]:
        for cited in find_recalled_places(outlined, row):
            path = None if cwd is None else _find_existing(str(Path(cwd, cited.path)), cwd)
            if path is not None:
                yield LinkTarget(
                    line=row.line,
                    column=cited.start,
                    end_column=cited.end,
                    path=path,
                    tooltip="Open what was recalled",
                    first_line=cited.first_line,
                    last_line=cited.last_line,
                )


def find_recalled_places(outlined: OutlinedSession, row: OutlineRow) -> tuple[CitedLines, ...]:
    """Give the places that memory named in a line; they begin and end in UTF-16 units.

    Raises:
        Unreadable: the file is not as long as it was.
    """
    if row.n_lines > 1 or row.size_bytes > MAX_CITING_BYTES:
        return ()
    text = outlined.lines.read_line(row.offset, row.size_bytes).raw.decode("utf-8", "replace")
    if MEMORY_TAG not in text:
        return ()
    return tuple(
        msgspec.structs.replace(
            cited, start=utf16_length(text[: cited.start]), end=utf16_length(text[: cited.end])
        )
        for cited in find_cited_lines(text)
    )


def _list_touched(outlined: OutlinedSession, row: OutlineRow) -> tuple[str, ...]:
    touches = (
        touch.path
        for item in items_of(outlined, row)
        for block in item.message.blocks
        if isinstance(block, ToolCall)
        for touch in read_call(block).touches
    )
    return tuple(dict.fromkeys(touches))


def _find_existing(name: str, cwd: str | None) -> Path | None:
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
        match = re.search(rb"(?<![\w./~-])" + re.escape(written) + rb"(?![\w./-])", raw)
        if match is not None:
            return range(match.start(), match.end())
    return None


def _checkpoints(outlined: OutlinedSession, places: Places) -> Iterator[LinkTarget]:
    placed = place_compactions(outlined)
    try:
        newest_first = list_checkpoints(outlined.loaded.session, places).saved if placed else ()
    except StorageError:
        return
    for compaction in placed:
        checkpoint = find_checkpoint_before(compaction, newest_first)
        raw = outlined.lines.read_line(compaction.row.offset, compaction.row.size_bytes).raw
        mark = _MARK.search(raw)
        if checkpoint is not None and mark is not None:
            tooltip = f"Open {checkpoint.checkpoint_id}, written before this compaction"
            yield _target(compaction.row, raw, range(*mark.span()), checkpoint.path, tooltip)


def _target(row: OutlineRow, raw: bytes, at: range, path: Path, tooltip: str) -> LinkTarget:
    column = _n_units(raw[: at.start])
    return LinkTarget(
        line=row.line,
        column=column,
        end_column=column + _n_units(raw[at.start : at.stop]),
        path=path,
        tooltip=tooltip,
    )


def _n_units(raw: bytes) -> int:
    return len(raw.decode("utf-8", "replace").encode("utf-16-le")) // 2
