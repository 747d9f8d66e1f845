"""Lines of a memory file, or of the workspace's other Markdown, as data with their place."""

import os
from pathlib import Path

import msgspec

from ullage.app.config.load import refuse_without_memory
from ullage.app.memory.origins import read_origins
from ullage.app.sessions.secrets import secrets_in
from ullage.core.config.settings import Config
from ullage.core.memory.answer import DEFAULT_LINES, MAX_LINES
from ullage.core.memory.origin import Origin
from ullage.core.memory.quoted import cite_lines, quote_memory
from ullage.core.text.quoting import quote_as_data
from ullage.errors import Unreadable
from ullage.store.files.places import Places
from ullage.store.memory.pages import SUFFIXES, read_page

MAX_CHARS = 20_000
"""Of an answer, as of a file that an agent is given at its start (docs/design/assembly.md,
"Truncation")."""
_HOW = "name Markdown of the workspace as memory_search names it, such as memory/2026-11-21.md"


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
    path: str,
    first_line: int = 1,
    n_lines: int = DEFAULT_LINES,
    *,
    places: Places,
    config: Config,
) -> MemoryLines:
    """Read lines of a Markdown file of the workspace; fewer where it ends or they are long.

    Raises:
        Unreadable: there is no such file or line, or it is no Markdown of the workspace's own.
        Refused: memory is switched off.
    """
    refuse_without_memory(config)
    workspace = workspace.resolve()
    name = quote_as_data(path)[:200]
    if not _is_own_page(path, workspace):
        raise Unreadable(f"{name} is no Markdown file of this workspace: {_HOW}")
    text = read_page(workspace, path)
    if text is None:
        raise Unreadable(f"{name} is not there, or cannot be read: {_HOW}")
    lines = text.removesuffix("\n").split("\n")
    if not 1 <= first_line <= len(lines):
        raise Unreadable(f"{name} has {len(lines):,} lines: name a first line from 1 on")
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
        origin=read_origins(workspace, places).tell(
            path, "\n".join(lines[first_line - 1 : last_line])
        ),
    )


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
