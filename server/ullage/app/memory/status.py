"""What is kept of a workspace's memory, and what happened to it; no index is built for that."""

from contextlib import closing
from datetime import date, datetime
from pathlib import Path

import msgspec

from ullage.app.gauge.status_text import local_time, row
from ullage.app.memory.embedder import open_vectors
from ullage.app.memory.open_memory import INDEX
from ullage.app.memory.origins import list_outside_changes
from ullage.app.memory.recalls import count_recalls_on
from ullage.core.config.settings import Config
from ullage.core.memory.inbox import read_items
from ullage.core.memory.journal import Asker
from ullage.core.text.prose import plural
from ullage.errors import StorageError
from ullage.formats.json_line import iso_ms
from ullage.store.files.places import Places, is_there
from ullage.store.memory.dream_state import read_last_dream
from ullage.store.memory.index import MemoryIndex
from ullage.store.memory.journal import read_journal
from ullage.store.memory.pages import read_page
from ullage.store.memory.places import DREAMS, memory_folder


class IndexStatus(msgspec.Struct, frozen=True, kw_only=True):
    n_files: int
    n_chunks: int
    size_bytes: int
    updated_at: str
    """RFC 3339."""


class VectorStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The vectors that are searched."""

    model: str
    weight: float
    """Beside words, by the self-test."""


class MemoryStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage memory status --json`."""

    workspace: str
    is_enabled: bool
    folder: str
    """Where index, vectors and journal are."""
    index: IndexStatus | None
    """Null until the first search builds it."""
    vectors: VectorStatus | None
    """Null where words alone are searched."""
    n_recalled_by_user: int
    """Pieces of memory that were handed out today."""
    n_recalled_by_agent: int
    n_waiting: int
    """Items in the inbox."""
    last_dream: str | None
    """When it was and what came of it, in words; null where there was none."""
    changed_from_outside: tuple[str, ...]
    """Paths of files with lines that nobody known wrote."""
    problems: tuple[str, ...]


def read_status(workspace: Path, config: Config, places: Places, today: date) -> MemoryStatus:
    """Read what is kept.

    Raises:
        StorageError: the index cannot be read.
    """
    problem = read_journal(workspace, places).problem
    problems = [] if problem is None else [problem]
    changed: list[str] = []
    try:
        changed = [change.path for change in list_outside_changes(workspace, places)]
    except StorageError as error:
        problems += [str(error)] if str(error) not in problems else []
    askers: list[Asker] = [
        asker
        for counts in count_recalls_on(today, workspace, places).values()
        for asker in counts.elements()
    ]
    folder = memory_folder(workspace, places)
    spaces = (space for space in open_vectors(folder).list_spaces() if space.is_active)
    active = next(spaces, None)
    return MemoryStatus(
        workspace=str(workspace),
        is_enabled=config.memory.is_enabled,
        folder=str(folder),
        index=_read_index(folder / INDEX),
        vectors=active and VectorStatus(model=active.model, weight=active.weight),
        n_recalled_by_user=askers.count("user"),
        n_recalled_by_agent=askers.count("agent"),
        n_waiting=len(list(read_items(read_page(workspace, DREAMS) or ""))),
        last_dream=read_last_dream(workspace, places),
        changed_from_outside=tuple(changed),
        problems=tuple(problems),
    )


def status_text(status: MemoryStatus) -> str:
    """Write a row for each thing that is kept."""
    index, vectors = status.index, status.vectors
    rows = [row("Workspace", status.workspace)]

    def advise(what: str) -> str:
        return f": {what}" if status.is_enabled else ""

    if not status.is_enabled:
        rows.append(row("Memory", "switched off (`memory.enabled`)"))
    if index is None:
        rows.append(row("Index", f"none yet{advise('the first search builds it')}"))
    else:
        size = f"{index.size_bytes / 1_000_000:.1f} MB"
        what = f"{plural(index.n_chunks, 'piece')} of {plural(index.n_files, 'file')}, {size}"
        rows.append(row("Index", f"{what}, as of {local_time(iso_ms(index.updated_at))}"))
    if vectors is not None:
        rows.append(row("Vectors", f"by {vectors.model}, weight {vectors.weight:.2f} of 1"))
    rows.append(
        row(
            "Recalled Today",
            f"{status.n_recalled_by_user:,} by you, {status.n_recalled_by_agent:,} by agents",
        )
    )
    inbox = f"{plural(status.n_waiting, 'item')} in {DREAMS}{advise('ullage memory review')}"
    rows.append(row("Inbox", inbox if status.n_waiting else "nothing waits"))
    rows.append(row("Last Dream", status.last_dream or f"none yet{advise('ullage memory dream')}"))
    changed = ", ".join(status.changed_from_outside)
    rows.append(row("From Outside", f"{changed}: ullage memory changes" if changed else "nothing"))
    rows.append(row("Kept In", status.folder))
    return "\n".join((*rows, *(row("Problem", problem) for problem in status.problems)))


def _read_index(path: Path) -> IndexStatus | None:
    files = [file for file in (path, path.with_name(f"{path.name}-wal")) if is_there(file)]
    if path not in files:
        return None
    found = [file.stat() for file in files]
    with closing(MemoryIndex(path)) as index:
        return IndexStatus(
            n_files=len(index.list_files()),
            n_chunks=index.size().n_chunks,
            size_bytes=sum(status.st_size for status in found),
            updated_at=datetime.fromtimestamp(max(status.st_mtime for status in found))
            .astimezone()
            .isoformat(timespec="seconds"),
        )
