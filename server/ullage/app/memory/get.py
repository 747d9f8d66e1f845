"""Lines of a memory file, or of the workspace's other Markdown, as data with their place."""

import os
import re
from pathlib import Path

import msgspec

from ullage.app.config.load import refuse_without_memory
from ullage.app.sessions.secrets import secrets_in
from ullage.core.config.settings import Config
from ullage.core.memory.answer import DEFAULT_LINES, MAX_LINES
from ullage.core.memory.origin import Origin
from ullage.core.memory.quoted import cite_lines, quote_memory
from ullage.core.text.prose import plural
from ullage.core.text.quoting import quote_as_data
from ullage.errors import Unreadable
from ullage.store.files.places import Places
from ullage.store.memory.journal import read_journal
from ullage.store.memory.pages import SUFFIXES, read_page

MAX_CHARS = 20_000
"""Of an answer, as of a file that an agent is given at its start (docs/design/assembly.md,
"Truncation")."""
_PLACE = re.compile(
    r"(?P<path>.+\.(?:md|markdown))(?P<mark>[#:])(?P<lines>.*)(?<!\.md)(?<!\.markdown)", re.DOTALL
)
_LINES = re.compile(r"L?(\d{1,9})(?:-L?(\d{1,9}))?")


class MemoryLines(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of a file; all of the text is quoted data."""

    path: str
    """Relative to the workspace, with `/`."""
    first_line: int
    """From 1, as `last_line`."""
    last_line: int
    n_lines: int
    """Of the whole file."""
    text: str
    origin: Origin

    @property
    def place(self) -> str:
        """Name the lines as readers link to them."""
        return cite_lines(self.path, self.first_line, self.last_line)


def get_memory(
    workspace: Path,
    place: str,
    first_line: int = 1,
    n_lines: int = DEFAULT_LINES,
    *,
    places: Places,
    config: Config,
    search_name: str = "memory_search",
) -> MemoryLines:
    """Read lines of a Markdown file of the workspace; fewer where it ends or they are long.

    `place` is a path, or one with lines as `read_place` takes it: those count then, not
    `first_line`. `search_name` is what errors call the search that names places.

    Raises:
        Unreadable: there is no such file or line, or it is no Markdown of the workspace's own.
        Refused: memory is switched off.
    """
    refuse_without_memory(config)
    workspace = workspace.resolve()
    path, named_line, n_lines = read_place(place, n_lines)
    first_line = named_line or first_line
    name = quote_as_data(path)[:200]
    how = f"name Markdown of the workspace as {search_name} names it, such as MEMORY.md"
    if not _is_own_page(path, workspace):
        raise Unreadable(f"{name} is no Markdown file of this workspace: {how}")
    text = read_page(workspace, path)
    if text is None:
        raise Unreadable(f"{name} is not there, or cannot be read: {how}")
    lines = text.removesuffix("\n").split("\n")
    if not 1 <= first_line <= len(lines):
        how = "name it without a line" if len(lines) == 1 else f"name one from 1 to {len(lines)}"
        raise Unreadable(
            f"{name} has {plural(len(lines), 'line')}, and no line {first_line}: {how}"
        )
    # All of it is looked at: a comment or a key may have begun before the first line.
    quoted = quote_memory(text, secrets_in((workspace,), places)).split("\n")
    shown = quoted[first_line - 1 : min(first_line - 1 + max(1, n_lines), len(lines))][:MAX_LINES]
    while len(shown) > 1 and sum(map(len, shown)) > MAX_CHARS:
        shown.pop()
    shown[0] = shown[0][:MAX_CHARS]
    last_line = first_line - 1 + len(shown)
    return MemoryLines(
        path=path,
        first_line=first_line,
        last_line=last_line,
        n_lines=len(lines),
        text="\n".join(shown),
        origin=read_journal(workspace, places)
        .read_origins()
        .tell(path, "\n".join(lines[first_line - 1 : last_line])),
    )


def read_place(place: str, n_lines: int) -> tuple[str, int | None, int]:
    """Read a path with or without lines: its path, first line, and how many lines it means.

    `a.md#L5` is that line alone, `a.md#L3-L9` and `a.md:3-9` are those, and `a.md:3` and `a.md`
    mean `n_lines`. The first line is None where none is named.

    Raises:
        Unreadable: what stands behind the path names no lines.
    """
    found = _PLACE.fullmatch(place)
    if found is None:
        return place, None, n_lines
    lines = _LINES.fullmatch(found["lines"])
    if lines is None or int(lines[1]) < 1:
        said = quote_as_data(found["lines"])[:40]
        raise Unreadable(f"{said!r} names no line: write path#L5, path#L3-L9 or path:5, from 1 on")
    first = int(lines[1])
    last = int(lines[2] or (first if found["mark"] == "#" else first + n_lines - 1))
    if last < first:
        raise Unreadable(f"lines {first} to {last} are none: name the first one first")
    return found["path"], first, last - first + 1


def _is_own_page(path: str, workspace: Path) -> bool:
    """Tell whether a path names Markdown of the workspace, not by a link, nor hidden."""
    parts = path.split("/")
    if not path.endswith(SUFFIXES) or any(not part or part.startswith(".") for part in parts):
        return False
    page = workspace / path
    try:
        found = page.resolve()
    except (OSError, RuntimeError, ValueError):
        return False
    # Where a system ignores case, another spelling is the same file.
    return page.is_relative_to(workspace) and os.path.normcase(found) == os.path.normcase(page)
