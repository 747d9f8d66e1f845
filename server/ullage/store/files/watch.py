"""Notices of changed files from the operating system (inotify, FSEvents, ReadDirectoryChangesW)."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from watchdog import events
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

_CHANGES: list[type[events.FileSystemEvent]] = [
    *(events.FileCreatedEvent, events.FileModifiedEvent),
    *(events.FileMovedEvent, events.FileDeletedEvent),
    *(events.DirCreatedEvent, events.DirMovedEvent, events.DirDeletedEvent),
]
"""What the system is asked to tell: on Linux it would also tell of each file that somebody reads,
which cost as much as to index it. That a file was closed, or a folder changed, tells nothing more.
"""
MOUNTS = Path("/proc/self/mountinfo")
"""Linux lists there what is mounted (proc_pid_mountinfo(5))."""
_SHARED = frozenset(
    "9p acfs afs auristorfs beegfs ceph cifs coda fakeowner fuse gfs2 gpfs lustre ncpfs nfs nfs4"
    " ocfs2 orangefs panfs prl_fs smb3 smbfs vboxsf virtiofs vmhgfs".split()
)
"""Types of file systems to which others write, of which this Linux is told nothing: networks', a
virtual machine's host's, and programs' (each of these is `fuse.` and its name).
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
        self._forget_others(wanted)
        mounts = _read_mounts()
        silent = {
            path
            for path, new in wanted.items()
            if not (self._keep(path, new) and _gives_notices(new.real, mounts))
        }
        unheard = {place for path in silent for place in wanted[path].places()}
        return unheard.union(file for file in files if _is_silent(file, silent))

    def stop(self) -> None:
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()

    def _keep(self, path: Path, new: "_Folder") -> bool:
        """Watch a folder unless it is watched already; tell whether it is."""
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
        return path in self._watched

    def _forget_others(self, wanted: Mapping[Path, "_Folder"]) -> None:
        """End the watches of folders that are not wanted, or are others by now.

        Paths that lead to one folder share its watch: those that stay begin another one.
        """
        ended = {f.watch for path, f in self._watched.items() if not f.is_still(wanted.get(path))}
        self._watched = {path: f for path, f in self._watched.items() if f.watch not in ended}
        if self._observer is not None:
            for watch in ended:
                self._observer.unschedule(watch)


class _Folder(events.FileSystemEventHandler):
    """A folder that is watched, and what in it counts."""

    def __init__(self, path: Path, *, is_tree: bool) -> None:
        self._path = path
        # Notices come by the real name, on macOS always.
        self.real = path.resolve()
        self._identity = _identify(path)
        self.is_tree = is_tree
        self.names: set[str] | None = set()
        """None: all that is in it."""
        self._is_gone = False
        """Whether it was deleted: another one may have its number."""
        self.watch: ObservedWatch
        self._on_change: Callable[[Path], None]

    def is_still(self, new: "_Folder | None") -> bool:
        """Tell whether this is a folder that is wanted: another one of its name is not watched."""
        return (
            new is not None
            and not self._is_gone
            and (new.is_tree, new._identity) == (self.is_tree, self._identity)
        )

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
            self, str(self.real), recursive=self.is_tree, event_filter=_CHANGES
        )

    def on_any_event(self, event: events.FileSystemEvent) -> None:
        for name in (event.src_path, event.dest_path):
            path = Path(str(name))
            if path == self.real:
                self._is_gone = self._is_gone or isinstance(event, events.DirDeletedEvent)
            elif not name or not (self.names is None or path.name in self.names):
                continue
            self._on_change(self._path / os.path.relpath(path, self.real))


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


def _identify(folder: Path) -> tuple[int, int] | None:
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _gives_notices(folder: Path, mounts: Mapping[Path, str]) -> bool:
    """Tell whether only this machine writes where a folder is, by its real name."""
    if sys.platform != "linux":
        return True
    kind = next((mounts[path] for path in (folder, *folder.parents) if path in mounts), None)
    return kind is not None and kind not in _SHARED and not kind.startswith("fuse.")


def _read_mounts() -> dict[Path, str]:
    """Read the type of the file system that is mounted at each path; nothing but on Linux."""
    try:
        text = os.fsdecode(MOUNTS.read_bytes())
    except OSError:
        return {}
    # Of several at one path the last hides the others.
    rows = [line.split(" ") for line in text.split("\n") if line]
    return {Path(_unescape(row[4])): row[row.index("-") + 1] for row in rows}


def _unescape(name: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), name)
