"""Notices of changed files from the operating system (inotify, FSEvents, ReadDirectoryChangesW)."""

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

_CHANGES: list[type[FileSystemEvent]] = [
    *(FileCreatedEvent, FileModifiedEvent, FileMovedEvent, FileDeletedEvent),
    *(DirCreatedEvent, DirMovedEvent, DirDeletedEvent),
]
"""What the system is asked to tell: on Linux it would also tell of each file that somebody reads,
which cost as much as to index it. That a file was closed, or a folder changed, tells nothing more.
"""


class FolderWatch:
    """Watches folders, and calls back from a thread of its own.

    A notice is a hint: some get lost, so who needs to know looks for itself now and then.
    """

    def __init__(self, on_change: Callable[[Path], None]) -> None:
        self._on_change = on_change
        self._watched: dict[Path, _Folder] = {}
        self._observer: BaseObserver | None = None
        try:
            self._observer = Observer()
        except OSError:
            # Linux gives a user so many watchers and no more.
            return
        self._observer.start()

    def watch(
        self, folders: Iterable[Path], *, trees: Iterable[Path] = (), files: Iterable[Path] = ()
    ) -> set[Path]:
        """Watch exactly these from now on: folders, trees with all that is below, single files.

        What does not exist is waited for. Gives the files and folders among all that whose
        changes the system does not tell.
        """
        wanted = _find_wanted(folders, frozenset(trees), tuple(files))
        for path, folder in tuple(self._watched.items()):
            if folder.is_gone or path not in wanted or folder.is_tree != wanted[path].is_tree:
                self._forget(path)
        silent = {path for path, new in wanted.items() if not self._keep(path, new)}
        unheard = {place for path in silent for place in wanted[path].places()}
        return unheard.union(file for file in files if _is_silent(file, silent))

    def stop(self) -> None:
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()

    def _keep(self, path: Path, new: "_Folder") -> bool:
        """Watch a folder unless it is watched already; tell whether its changes are told."""
        if path in self._watched:
            self._watched[path].names = new.names
        elif new.names is not None and sys.platform == "darwin":
            # macOS wakes who watches a folder for all that happens below it, as in a whole home.
            return False
        elif self._observer is not None:
            try:
                new.begin(self._observer, self._on_change)
            except OSError:
                return False
            self._watched[path] = new
        return path in self._watched and _gives_notices(path)

    def _forget(self, path: Path) -> None:
        folder = self._watched.pop(path)
        if self._observer is not None and folder.watch is not None:
            self._observer.unschedule(folder.watch)


class _Folder(FileSystemEventHandler):
    """A folder that is watched, and what in it counts."""

    def __init__(self, path: Path, *, is_tree: bool) -> None:
        self._path = path
        # Notices come by the real name, on macOS always.
        self._real = path.resolve()
        self.is_tree = is_tree
        self.names: set[str] | None = set()
        """None: all that is in it."""
        self.is_gone = False
        """Whether it was deleted: another one of its name is not watched."""
        self.watch: ObservedWatch | None = None
        self._on_change: Callable[[Path], None]

    def places(self) -> Iterable[Path]:
        """Give what is to be looked at where nothing is told."""
        if self.names is not None:
            return (self._path / name for name in self.names)
        if self.is_tree:
            return (Path(folder) for folder, _, _ in os.walk(self._path))
        return (self._path,)

    def begin(self, observer: BaseObserver, on_change: Callable[[Path], None]) -> None:
        self._on_change = on_change
        self.watch = observer.schedule(
            self, str(self._real), recursive=self.is_tree, event_filter=_CHANGES
        )

    def on_any_event(self, event: FileSystemEvent) -> None:
        for name in (event.src_path, event.dest_path):
            path = Path(str(name))
            if path == self._real:
                self.is_gone = self.is_gone or isinstance(event, DirDeletedEvent)
            elif not name or not (self.names is None or path.name in self.names):
                continue
            self._on_change(self._path / os.path.relpath(path, self._real))


def _find_wanted(
    folders: Iterable[Path], trees: frozenset[Path], files: Iterable[Path]
) -> dict[Path, _Folder]:
    """Find the folders to watch: those that exist, and those in which the others would come."""
    wanted: dict[Path, _Folder] = {}

    def want(path: Path, *, is_tree: bool = False) -> _Folder:
        return wanted.setdefault(path, _Folder(path, is_tree=is_tree))

    for path in (*sorted(trees), *folders):
        if not trees.isdisjoint(path.parents):
            continue
        if _is_folder(path):
            want(path, is_tree=path in trees).names = None
        else:
            _wait_for(path, want)
    for path in files:
        if trees.isdisjoint(path.parents):
            _wait_for(path, want)
    return wanted


def _wait_for(path: Path, want: Callable[[Path], _Folder]) -> None:
    """Have the nearest folder above a path watched for the name in it that leads there."""
    for parent in path.parents:
        if _is_folder(parent):
            names = want(parent).names
            if names is not None:
                names.add(path.relative_to(parent).parts[0])
            return


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _is_silent(file: Path, silent: set[Path]) -> bool:
    """Tell whether changes of a file are not told.

    macOS and Windows tell of a file that is kept open once it is closed; through a link nothing
    is told of what it leads to.
    """
    if sys.platform != "linux" or not silent.isdisjoint(file.parents):
        return True
    try:
        return file.is_symlink()
    except OSError:
        return False


def _gives_notices(folder: Path) -> bool:
    """Tell whether a folder is on a disk of this machine.

    Linux tells nothing of what others write to a network's. Those, and some others, are of no
    device (Linux, "Documentation/admin-guide/devices.txt": major 0).
    """
    if sys.platform != "linux":
        return True
    try:
        return os.major(folder.stat().st_dev) != 0
    except OSError:
        return False
