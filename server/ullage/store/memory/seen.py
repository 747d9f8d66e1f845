"""The memory files of a workspace, and their texts as they were last seen."""

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path

import msgspec

from ullage.core.memory.origin import is_memory_path
from ullage.store.files.places import Places
from ullage.store.files.state_file import read_state, replace_state
from ullage.store.files.text_files import is_unicode, read_plain_file
from ullage.store.memory.places import FOLDER, MEMORY, memory_folder

NAME = "seen.json"
MAX_FILE_BYTES = 16 * 1024 * 1024
"""A larger file is no memory (chosen)."""
MAX_FILES = 50_000
"""As many as are searched (chosen)."""
MAX_KEPT_CHARS = 16 * 1024 * 1024
"""Of all texts as they were seen; of files beyond it, removed lines are not told (chosen)."""


class MemoryFile(msgspec.Struct, frozen=True, kw_only=True):
    """A memory file as it is now."""

    path: str
    """Relative to the workspace, with `/`."""
    text: str
    """With LF."""
    sha256: str
    size_bytes: int


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
    paths = islice(_list_paths(workspace), MAX_FILES) if only is None else sorted(only)
    for path in paths:
        full = workspace / path
        if not is_memory_path(path) or is_linked(full.parent):
            continue
        data = read_plain_file(full, MAX_FILE_BYTES)
        if data is None:
            continue
        text = decode_text(data)
        yield MemoryFile(
            path=path, text=text, sha256=hashlib.sha256(data).hexdigest(), size_bytes=len(data)
        )


def decode_text(data: bytes) -> str:
    """Give the text of a memory file, with LF; what is no UTF-8 is replaced."""
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n")


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


def _list_paths(workspace: Path) -> Iterator[str]:
    """List memory files, folder by folder; links and hidden folders are passed over."""
    yield MEMORY
    waiting = [] if _is_linked(workspace / FOLDER) else [FOLDER]
    while waiting:
        folder = waiting.pop()
        inner: list[str] = []
        try:
            with os.scandir(workspace / folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if entry.name[0] != "." and not _is_linked(workspace / path):
                    inner.append(path)
            elif is_memory_path(path) and is_unicode(entry.name):
                yield path
        waiting += reversed(inner)


def _is_linked(path: Path) -> bool:
    try:
        # A junction of Windows is no link by its mode, but leads elsewhere.
        return path.is_symlink() or path.resolve() != path
    except (OSError, RuntimeError):
        return True
