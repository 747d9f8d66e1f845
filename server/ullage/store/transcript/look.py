"""Look for the transcripts of one owner, at what changed since the last look alone.

A folder is listed again when its stamp is another one, a header read again when its file's is. Of
what belongs to others nothing is looked at but the folders.
"""

# Hundreds of folders are looked at, and pathlib costs as much as the system's own work.
# ruff: noqa: PTH112, PTH114, PTH116, PTH118

import os
import time
from _thread import allocate_lock
from collections.abc import Callable, Iterable, Iterator, Set
from pathlib import Path
from typing import TypeAlias

import msgspec

from ullage.errors import StateUnwritable, Unreadable
from ullage.store.files.places import Places
from ullage.store.transcript.folders import TranscriptFile, list_names
from ullage.store.transcript.known_folders import (
    CACHE_ERRORS,
    KnownFile,
    KnownFolder,
    KnownFolders,
    give_up,
    open_known_folders,
)

SETTLE_NS = 2_000_000_000
"""A folder younger than this may change again and keep its time: FAT counts in steps of two
seconds, the coarsest there are (Microsoft, "File Times")."""

ReadOwner: TypeAlias = Callable[[Path], str]
"""Says whose a transcript is, by its header; empty where no agent that we know wrote it. May raise
`Unreadable`."""

_lock = allocate_lock()
"""Who looks while another does would read the same headers."""


class TranscriptFolder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that is looked through."""

    path: Path
    is_nested: bool
    """Whether transcripts lie in the folders below it too."""


def find_transcripts(
    folders: Iterable[TranscriptFolder], owners: Set[str], read_owner: ReadOwner, places: Places
) -> list[TranscriptFile]:
    """Find the transcripts in some folders that belong to one of the owners.

    Where there is no folder, nothing is learned, and no file of ours begun.
    """
    folders = tuple(folder for folder in folders if os.path.isdir(folder.path))
    if not folders:
        return []
    with _lock:
        try:
            with open_known_folders(places) as known:
                return _Look(known, owners, read_owner).run(folders)
        except (StateUnwritable, OSError, *CACHE_ERRORS) as error:
            give_up(places, error)
        with open_known_folders(places) as known:
            return _Look(known, owners, read_owner).run(folders)


class _Look:
    """One look: what is known, and what was learned."""

    def __init__(self, known: KnownFolders, owners: Set[str], read_owner: ReadOwner) -> None:
        self._known = known
        self._owners = owners
        self._read_owner = read_owner
        self._folders = known.list_folders()
        self._listed: dict[str, tuple[KnownFolder, tuple[KnownFile, ...]]] = {}
        self._read: list[tuple[str, KnownFile]] = []

    def run(self, folders: Iterable[TranscriptFolder]) -> list[TranscriptFile]:
        unchanged: dict[int, str] = {}
        for folder in folders:
            for path, known in self._walk(str(folder.path), is_nested=folder.is_nested):
                if path not in self._listed and known.folder_id is not None:
                    unchanged[known.folder_id] = path
        files = self._known.find_files(unchanged, self._owners)
        files += [
            (path, file)
            for path, (_, listed) in self._listed.items()
            for file in listed
            if file.owner in self._owners or not file.owner
        ]
        transcripts = [transcript for path, file in files for transcript in self._check(path, file)]
        if self._listed or self._read:
            self._known.write(self._listed, self._read)
        return transcripts

    def _walk(self, root: str, *, is_nested: bool) -> Iterator[tuple[str, KnownFolder]]:
        waiting = [root]
        while waiting:
            path = waiting.pop()
            folder = self._look_at(path)
            if folder is not None:
                yield path, folder
                if is_nested:
                    waiting += [os.path.join(path, name) for name in folder.subfolders]

    def _look_at(self, path: str) -> KnownFolder | None:
        """Give a folder as it is, listed anew where it changed; None where there is none."""
        now_ns = time.time_ns()
        try:
            status = os.stat(path)
            before = self._folders.get(path)
            if before is not None and before.stamp == _stamp_of(status):
                return before
            names, subfolders = list_names(path)
        except (OSError, ValueError):
            return None
        is_settled = now_ns - status.st_mtime_ns >= SETTLE_NS
        folder = KnownFolder(
            folder_id=None if before is None else before.folder_id,
            stamp=_stamp_of(status) if is_settled else "",
            subfolders=tuple(subfolders),
        )
        known = {file.name: file for file in self._known.list_files(folder.folder_id)}
        files = {name: self._read_file(path, name, known.get(name)) for name in names}
        if folder != before or files != known:
            self._listed[path] = folder, tuple(files.values())
        return folder

    def _check(self, folder: str, file: KnownFile) -> Iterator[TranscriptFile]:
        """Give a file that belongs to an owner; what nobody owned may by now."""
        path = os.path.join(folder, file.name)
        if not (file.owner and file.stamp):
            now = self._read_file(folder, file.name, file)
            if now.stamp and now != file:
                self._read.append((folder, now))
            if now.owner not in self._owners:
                return
        try:
            yield TranscriptFile(path=Path(path), mtime_ns=os.stat(path).st_mtime_ns)
        except OSError:
            return

    def _read_file(self, folder: str, name: str, before: KnownFile | None) -> KnownFile:
        """Read whose a file is, unless it is as it was."""
        path = os.path.join(folder, name)
        try:
            stamp = _stamp_of(os.stat(path))
            if before is not None and before.stamp == stamp:
                return before
            owner = self._read_owner(Path(path))
        except (OSError, Unreadable):
            return KnownFile(name, "", "")
        # What a link leads to may change without a change in its folder.
        return KnownFile(name, "" if os.path.islink(path) else stamp, owner)


def _stamp_of(status: os.stat_result) -> str:
    """Tell a file or folder from what it was; its inode alone may be that of one that is gone."""
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
