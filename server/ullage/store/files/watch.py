"""Notices of changed files from the operating system (inotify, FSEvents, ReadDirectoryChangesW)."""

from collections.abc import Callable, Iterable
from pathlib import Path

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirModifiedEvent,
    DirMovedEvent,
    FileClosedEvent,
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
    *(FileCreatedEvent, FileModifiedEvent, FileClosedEvent, FileMovedEvent, FileDeletedEvent),
    *(DirCreatedEvent, DirModifiedEvent, DirMovedEvent, DirDeletedEvent),
]
"""What the system is asked to tell: on Linux it would also tell of each file that somebody reads,
which cost as much as to index it.
"""


class FolderWatch:
    """Watches folders, not what is below them, and calls back from a thread of its own.

    A notice is a hint: some file systems give none (NFS, some containers), so who needs to know
    looks for itself now and then.
    """

    def __init__(self, on_change: Callable[[Path], None]) -> None:
        self._handler = _Handler(on_change)
        self._observer: BaseObserver = Observer()
        self._watches: dict[Path, ObservedWatch] = {}
        self._observer.start()

    def watch(self, folders: Iterable[Path]) -> None:
        """Watch exactly these folders from now on; one that does not exist is left out."""
        wanted = set(folders)
        for folder in set(self._watches) - wanted:
            self._observer.unschedule(self._watches.pop(folder))
        for folder in wanted - set(self._watches):
            try:
                self._watches[folder] = self._observer.schedule(
                    self._handler, str(folder), event_filter=_CHANGES
                )
            except OSError:
                continue

    def stop(self) -> None:
        self._observer.stop()
        self._observer.join()


class _Handler(FileSystemEventHandler):
    def __init__(self, on_change: Callable[[Path], None]) -> None:
        self._on_change = on_change

    def on_any_event(self, event: FileSystemEvent) -> None:
        for name in (event.src_path, event.dest_path):
            if name:
                self._on_change(Path(str(name)))
