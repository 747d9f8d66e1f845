"""The memory files of a workspace, and their texts as they were last seen."""

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

import msgspec

from ullage.core.memory.origin import is_memory_path
from ullage.store.files.places import Places
from ullage.store.files.state_file import read_state, replace_state
from ullage.store.files.text_files import read_plain_file
from ullage.store.memory.daily_log import FOLDER, MAX_FOLDER_ENTRIES, MEMORY
from ullage.store.memory.places import memory_folder

NAME = "seen.json"
MAX_FILE_BYTES = 16 * 1024 * 1024
"""A larger file is no memory (chosen)."""
MAX_KEPT_CHARS = 16 * 1024 * 1024
"""Of all texts as they were seen; of files beyond it, removed lines are not told (chosen)."""


class MemoryFile(msgspec.Struct, frozen=True, kw_only=True):
    """A memory file as it is now."""

    path: str
    """Relative to the workspace, with `/`."""
    text: str
    """With LF."""
    sha256: str


class SeenTexts(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `seen.json`: texts by the paths of their files."""

    version: int = 1
    texts: dict[str, str] = {}


def read_memory_files(workspace: Path, only: Collection[str] | None = None) -> Iterator[MemoryFile]:
    """Read `MEMORY.md` and all Markdown below `memory/`, through no link, in the order of names.

    `only` has the paths of those that are wanted.
    """
    workspace = workspace.resolve()
    is_linked = cache(_is_linked)
    for path in _list_all(workspace) if only is None else sorted(only):
        full = workspace / path
        if not is_memory_path(path) or is_linked(full.parent):
            continue
        data = read_plain_file(full, MAX_FILE_BYTES)
        if data is None:
            continue
        text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        yield MemoryFile(path=path, text=text, sha256=hashlib.sha256(data).hexdigest())


def read_seen_texts(workspace: Path, places: Places) -> dict[str, str]:
    """Read the texts of files as they were last seen; none where that cannot be read."""
    stored = read_state(memory_folder(workspace, places) / NAME, SeenTexts, SeenTexts().version)
    return {} if stored.content is None else stored.content.texts


def keep_seen_texts(changes: Mapping[str, str], workspace: Path, places: Places) -> None:
    """Note texts as seen, while the journal is held; the newest of all are kept.

    Raises:
        StateUnwritable: the state folder does not take it; the old file is intact.
        StorageError: a newer version wrote the file.
    """
    path = memory_folder(workspace, places) / NAME
    stored = read_state(path, SeenTexts, SeenTexts().version)
    before = {} if stored.content is None else stored.content.texts
    newest_last = {name: before[name] for name in before if name not in changes} | dict(changes)
    kept: dict[str, str] = {}
    n_chars = 0
    for name, text in reversed(newest_last.items()):
        n_chars += len(text)
        if n_chars > MAX_KEPT_CHARS:
            break
        kept[name] = text
    replace_state(path, stored, SeenTexts(texts=dict(reversed(kept.items()))))


def _list_all(workspace: Path) -> Iterator[str]:
    yield MEMORY
    if not _is_linked(workspace / FOLDER):
        yield from _list_names(workspace / FOLDER, f"{FOLDER}/")


def _list_names(folder: Path, prefix: str) -> Iterator[str]:
    """List Markdown files below a folder; links and hidden folders are passed over."""
    n_entries = 0
    for name, folders, files in os.walk(folder):
        folders[:] = sorted(
            each for each in folders if each[0] != "." and not _is_linked(Path(name, each))
        )
        n_entries += len(files)
        if n_entries > MAX_FOLDER_ENTRIES:
            return
        inner = Path(name).relative_to(folder).as_posix()
        parent = prefix if inner == "." else f"{prefix}{inner}/"
        for each in sorted(files):
            if each.endswith(".md"):
                yield f"{parent}{each}"


def _is_linked(path: Path) -> bool:
    try:
        # A junction of Windows is no link by its mode, but leads elsewhere.
        return path.is_symlink() or path.resolve() != path
    except (OSError, RuntimeError):
        return True
