"""The Markdown of a workspace that memory is searched in, as a look at its folders tells."""

import os
import re
import stat
import sys
import time
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ullage.core.memory.origin import is_memory_path
from ullage.core.text.gitignore import ignore_spec, is_ignored
from ullage.store.files.text_files import is_unicode, read_plain_file, read_text_file
from ullage.store.memory.index import SourceFile
from ullage.store.memory.places import DREAMS, FOLDER, SUPERSEDED
from ullage.store.memory.seen import MAX_FILES

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MAX_ENTRIES = 500_000
"""Files and folders that are looked at (chosen: some seconds)."""
MAX_PAGE_BYTES = 4 * 1024 * 1024
"""Of a file that is read; a longer one is data (chosen)."""
UNSETTLED_NS = 100_000_000
"""A file changed so lately may change again without its time telling; systems count in 10 ms."""
SUFFIXES = (".md", ".markdown")
_MAX_TIME_S = 4_102_444_800
"""The year 2100: some file systems hold times that no calendar has."""
_FOREIGN = frozenset({"node_modules", "site-packages", "__pycache__", "venv", "vendor", "target"})
"""Folders of other people's pages."""
_DAY = re.compile(r"(?:.*/)?(\d{4}-\d\d-\d\d)[^/]*\Z")


class Pages(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at a workspace found."""

    paths: set[str]
    """Of all files, relative to the workspace."""
    changed: list[SourceFile]
    """Those that are not as they were known."""
    folders: tuple[Path, ...]
    """Those that were looked into."""
    is_complete: bool
    """False where there is more than is looked at."""


def list_pages(
    workspace: Path,
    state_folder: Path,
    known: Mapping[str, tuple[int, int]],
    *,
    is_project: bool = True,
) -> Pages:
    """List the Markdown files of a workspace, through no link.

    `known` has size and `changed_ns` of files by their paths, as `MemoryIndex.list_files` does.
    Of a folder that is no project, such as a home folder, `MEMORY.md` and `memory/` alone count.
    Left out are the inbox, hidden folders, folders of dependencies, what a `.gitignore` of the
    workspace keeps out (but for `memory/`), and Ullage's own state.
    """
    look = _Look(workspace, state_folder, known, is_project=is_project)
    look.list_files()
    return Pages(
        paths=look.paths,
        changed=look.changed,
        folders=tuple(look.folders),
        is_complete=not look.is_over,
    )


def list_logs(paths: Iterable[str], limit: int) -> list[str]:
    """List the paths of the last daily logs of memory, in the order of paths."""
    logs = (
        path for path in sorted(paths, reverse=True) if is_memory_path(path) and _read_day(path)
    )
    return [*islice(logs, limit)][::-1]


def list_memory_names(workspace: Path) -> list[str]:
    """List the paths of the files right below `memory/`, without a look at them."""
    try:
        names = os.listdir(workspace / FOLDER)  # noqa: PTH208 (names alone: ten times as fast)
    except OSError:
        return []
    return [f"{FOLDER}/{name}" for name in names if name.endswith(SUFFIXES)]


def find_page(workspace: Path, path: str, *, is_project: bool = True) -> SourceFile | None:
    """Look at one page by its path; None where it is no file, or none that is searched."""
    if not is_project and not is_memory_path(path):
        return None
    if not is_unicode(path) or path == SUPERSEDED:
        return None
    if not is_memory_path(path) and not _is_page(path, _read_ignored(workspace)):
        return None
    try:
        status = (workspace / path).lstat()
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_PAGE_BYTES:
        return None
    changed_ns = _read_changed_ns(status)
    return _describe(path, status, changed_ns if changed_ns < _settled_ns() else -1)


def read_page(workspace: Path, path: str) -> str | None:
    """Read a page, with LF; None where it went away or is not ours to read."""
    data = read_plain_file(workspace / path, MAX_PAGE_BYTES)
    return None if data is None else data.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _settled_ns() -> int:
    return time.time_ns() - UNSETTLED_NS


def _read_changed_ns(status: os.stat_result) -> int:
    """Give when a file was changed.

    Who puts another file in its place may keep its time and its size, but not the time of the
    change; Windows has none.
    """
    return status.st_mtime_ns if sys.platform == "win32" else status.st_ctime_ns


def _describe(path: str, status: os.stat_result, changed_ns: int) -> SourceFile:
    named = _read_day(path)
    return SourceFile(
        path=path,
        size=status.st_size,
        changed_ns=changed_ns,
        day=named or _read_written_day(status),
        is_memory=is_memory_path(path),
        is_log=named is not None,
    )


def _read_day(path: str) -> str | None:
    """Give the day that a file is named by; None where it is none of the calendar."""
    match = _DAY.match(path)
    try:
        return match and date.fromisoformat(match[1]).isoformat()
    except ValueError:
        return None


def _read_written_day(status: os.stat_result) -> str:
    written = datetime.fromtimestamp(min(max(0, status.st_mtime), _MAX_TIME_S))
    return f"{written:%Y-%m-%d}"


def _read_ignored(workspace: Path) -> "GitIgnoreSpec | None":
    rules = read_text_file(workspace / ".gitignore")
    return ignore_spec(rules) if rules else None


def _is_page(path: str, ignored: "GitIgnoreSpec | None") -> bool:
    """Tell whether a file beside memory is searched, of a folder that is looked into."""
    return path != DREAMS and (ignored is None or not ignored.match_file(path))


class _Look:
    def __init__(
        self,
        workspace: Path,
        state_folder: Path,
        known: Mapping[str, tuple[int, int]],
        *,
        is_project: bool,
    ) -> None:
        self._is_project = is_project
        self._workspace = workspace
        self._state_folder = os.path.realpath(state_folder)
        self._known = known
        self._settled_ns = _settled_ns()
        self._n_entries = 0
        self.paths: set[str] = set()
        self.changed: list[SourceFile] = []
        self.folders: list[Path] = []
        self.is_over = False

    @cached_property
    def _ignored(self) -> "GitIgnoreSpec | None":
        return _read_ignored(self._workspace)

    def list_files(self) -> None:
        """List the files, folder by folder."""
        # Each is named by its path with a `/` at its end.
        waiting = [""]
        while waiting and not self.is_over:
            prefix = waiting.pop()
            inner: list[str] = []
            self._list_folder(prefix, inner)
            waiting += sorted(inner, reverse=True)

    def _list_folder(self, prefix: str, inner: list[str]) -> None:
        folder = self._workspace / prefix
        self.folders.append(folder)
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._n_entries += 1
                    if self._n_entries > MAX_ENTRIES or len(self.paths) >= MAX_FILES:
                        self.is_over = True
                        return
                    if entry.name.endswith(SUFFIXES):
                        self._look_at_file(entry, prefix + entry.name)
                    elif entry.is_dir(follow_symlinks=False) and self._is_own(entry, prefix):
                        inner.append(f"{prefix}{entry.name}/")
        except OSError:
            return

    def _look_at_file(self, entry: os.DirEntry[str], path: str) -> None:
        """Note a file that is searched. Most are as they were: this is half of a search's time."""
        if not entry.is_file(follow_symlinks=False) or not is_unicode(path):
            return
        if path == SUPERSEDED:
            # What does not hold any more answers no question.
            return
        if not is_memory_path(path) and not (self._is_project and _is_page(path, self._ignored)):
            return
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return
        size, changed_ns = status.st_size, _read_changed_ns(status)
        if size > MAX_PAGE_BYTES:
            return
        self.paths.add(path)
        if changed_ns >= self._settled_ns:
            changed_ns = -1
        if changed_ns < 0 or self._known.get(path) != (size, changed_ns):
            self.changed.append(_describe(path, status, changed_ns))

    def _is_own(self, entry: os.DirEntry[str], prefix: str) -> bool:
        path = prefix + entry.name
        is_memory = is_memory_path(f"{path}/x.md")
        if not self._is_project and not is_memory:
            return False
        if entry.name.startswith(".") or entry.name in _FOREIGN or not is_unicode(entry.name):
            return False
        # A junction of Windows is no link by its mode, but leads elsewhere.
        if sys.platform == "win32" and Path(entry.path).resolve() != Path(entry.path):
            return False
        if entry.path == self._state_folder or Path(entry.path, "pyvenv.cfg").exists():
            return False
        return is_memory or self._ignored is None or not is_ignored(f"{path}/", self._ignored)
