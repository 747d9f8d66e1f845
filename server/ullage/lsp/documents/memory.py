"""Memory files, and the places in them that memory hands out: hovers and links."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from lsprotocol import types

from ullage.app.documents.check import SmallFile, Surroundings
from ullage.app.gauge.status_text import ago
from ullage.app.memory.get import get_memory
from ullage.app.memory.recalls import LineHistory, read_line_history
from ullage.core.memory.origin import ORIGIN_WORDS, is_memory_path
from ullage.core.memory.quoted import CitedLines, find_cited_lines
from ullage.core.text.positions import Position, Positions
from ullage.errors import Refused, Unreadable
from ullage.lsp.convert import escape_markdown, hover_of, range_of, uri_of
from ullage.lsp.state import CitedExtent
from ullage.store.files.text_files import exists

MAX_HOVER_LINES = 40
"""Of a place (chosen: a screen)."""


def list_cited(text: str) -> tuple[CitedExtent, ...]:
    """List the places in memory that a text names, and where it does."""
    positions = Positions(text)
    return tuple(
        (cited, positions.extent(cited.start, cited.end)) for cited in find_cited_lines(text)
    )


def place_hover(file: SmallFile, params: types.HoverParams) -> types.Hover | None:
    workspace = file.around.workspace_of(file.path)
    return hover_cited(list_cited(file.text), workspace, file.around, params.position)


def hover_cited(
    places: Iterable[CitedExtent],
    workspace: Path | None,
    around: Surroundings,
    pointer: types.Position,
) -> types.Hover | None:
    """Show the lines that the place under the pointer names."""
    at = Position(pointer.line, pointer.character)
    for cited, extent in places if workspace is not None else ():
        if extent.start <= at <= extent.end:
            return show_cited(cited, workspace or Path(), around, range_of(extent))
    return None


def show_cited(
    cited: CitedLines, workspace: Path, around: Surroundings, where: types.Range
) -> types.Hover | None:
    """Show the lines of a place, as data; None where they are not there any more."""
    n_lines = min(cited.last_line - cited.first_line + 1, MAX_HOVER_LINES)
    try:
        lines = get_memory(
            workspace,
            cited.path,
            cited.first_line,
            n_lines,
            places=around.places,
            config=around.config,
        )
    except (Unreadable, Refused):
        return None
    head = f"**{escape_markdown(lines.place)}** · {ORIGIN_WORDS[lines.origin]}"
    return hover_of([head, quote_lines(lines.text)], where)


def line_hover(file: SmallFile, params: types.HoverParams) -> types.Hover | None:
    """Tell of a line where it comes from, since when, and how often it was recalled."""
    workspace = file.around.workspace_of(file.path)
    path = None if workspace is None else file.path.relative_to(workspace).as_posix()
    if workspace is None or path is None or not is_memory_path(path):
        return None
    line = params.position.line + 1
    history = read_line_history(path, file.text, line, workspace, file.around.places)
    return None if history is None else hover_of(["  \n".join(_list_history(history))])


def _list_history(history: LineHistory) -> Iterator[str]:
    origin = ORIGIN_WORDS[history.origin]
    if history.origin == "unknown":
        yield f"**{origin.capitalize()}**: changed from outside"
    else:
        noted = "" if history.written_at is None else f", noted {_ago(history.written_at)}"
        yield f"**{origin.capitalize()}**{noted}"
    counts = (("by you", history.n_by_user), ("by an agent", history.n_by_agent))
    recalls = ", ".join(f"{n}× {asker}" for asker, n in counts if n)
    yield f"Recalled {recalls}; last on {history.last_day}" if recalls else "Never recalled"


def _ago(at: str) -> str:
    return ago(round(datetime.fromisoformat(at).timestamp() * 1000))


def link_cited(
    places: Iterable[CitedExtent], workspace: Path | None
) -> Iterator[types.DocumentLink]:
    """Link the places that memory hands out to their lines."""
    for cited, extent in places if workspace is not None else ():
        target = Path(workspace or "", cited.path)
        if ".." not in target.parts and exists(target):
            yield types.DocumentLink(
                range=range_of(extent),
                target=lines_uri(target, cited.first_line, cited.last_line),
                tooltip="Open these lines of memory",
            )


def lines_uri(path: Path, first_line: int, last_line: int) -> str:
    """Name lines of a file, from 1, as editors follow it (VS Code, `#L3-L5`)."""
    lines = f"L{first_line}" if first_line == last_line else f"L{first_line}-L{last_line}"
    return f"{uri_of(path)}#{lines}"


def quote_lines(text: str) -> str:
    """Show lines of memory in Markdown as they are."""
    return "\n".join(f"> {escape_markdown(line)}  " for line in text.split("\n"))
