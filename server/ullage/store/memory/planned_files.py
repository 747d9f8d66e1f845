"""The files of a change of memory: what each was and is to be, and how they are written.

What was added to a file meanwhile stays behind its new content, where that ends with a line end.
What a change took out of a file that was changed otherwise since goes back to its end.
"""

import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from ullage.core.text.taken_sections import write_taken_sections
from ullage.errors import ChangedMeanwhile
from ullage.store.change.session_lock import changed_meanwhile
from ullage.store.files import atomic
from ullage.store.files.places import Places
from ullage.store.memory.memory_text import parse_memory_text
from ullage.store.memory.places import FOLDER, memory_folder
from ullage.store.memory.unlinked import find_unlinked, read_unlinked, unwritable_file

Place: TypeAlias = Literal["workspace", "state"]


class PlannedFile(msgspec.Struct, frozen=True, kw_only=True):
    """What a change makes of one file; None stands for no such file."""

    place: Place
    """`state` is the folder of the workspace's memory in our state."""
    path: str
    """Relative to the place, with `/`."""
    before: bytes | None
    after: bytes | None


class FileWrite(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is to be written, unless it is not any more as it was seen."""

    path: Path
    seen: bytes | None
    wanted: bytes | None
    place: Place
    note: str | None = None
    """What a person is to know of it."""


def find_memory_file(place: Place, path: str, workspace: Path, places: Places) -> Path:
    """Give the full path of a file that a change of memory may have.

    Raises:
        LogRefused: links lead there, or there is no such workspace.
    """
    if place == "state":
        return memory_folder(workspace, places).resolve() / path
    return find_unlinked(workspace, path)


def plan_forward(file: PlannedFile, workspace: Path, places: Places) -> FileWrite:
    """Plan to write a file that a killed process may have written already.

    Raises:
        ChangedMeanwhile: it begins with neither of its versions.
        LogRefused: it is no regular file any more, or reached by links.
        StorageError: it cannot be read.
    """
    path, seen = _look_at(file, workspace, places)
    added_after, added_before = _added(seen, file.after), _added(seen, file.before)
    # One version may begin with the other: the longer one tells more.
    if added_after is not None and (added_before is None or len(added_after) < len(added_before)):
        return _plan_write(file, path, seen, seen)
    return _plan_write(file, path, seen, _join(file, file.after, added_before))


def plan_back(file: PlannedFile, workspace: Path, places: Places) -> FileWrite:
    """Plan to give a file its earlier content again, or what was taken out of it at its end.

    Raises:
        ChangedMeanwhile: it does not begin with what the change made of it, which was more than to
            take sections out.
        LogRefused: it is no regular file any more, or reached by links.
        StorageError: it cannot be read.
    """
    path, seen = _look_at(file, workspace, places)
    if seen == file.before:
        # What somebody put back by hand is not put back twice.
        return _plan_write(file, path, seen, seen)
    try:
        return _plan_write(file, path, seen, _join(file, file.before, _added(seen, file.after)))
    except ChangedMeanwhile:
        # It may begin with its earlier version, and have ours further down.
        wanted = _add_taken(file, path, seen)
    note = f"{file.path} was changed since: what was taken out of it stands at its end again"
    return replace(_plan_write(file, path, seen, wanted), note=None if wanted == seen else note)


def plan_exactly(file: PlannedFile, workspace: Path, places: Places) -> FileWrite:
    """Plan to write a file that is as it was when the change was planned.

    Raises:
        ChangedMeanwhile: it is not.
        LogRefused: it is no regular file, or reached by links.
        StorageError: it cannot be read.
    """
    path, seen = _look_at(file, workspace, places)
    if seen != file.before:
        raise changed_meanwhile(path)
    return _plan_write(file, path, seen, file.after)


def write_files(writes: Sequence[FileWrite]) -> None:
    """Write files in their order, each by a rename, once the disk took the content of all.

    Raises:
        ChangedMeanwhile: one is not as it was seen; it and those behind it are not written.
        StorageError: the system does not let us; those before it are written.
    """
    for write in writes:
        remove_leftovers(write.path)
    staged = [(write, atomic.temporary_beside(write.path)) for write in writes]
    staged = [(write, temporary) for write, temporary in staged if write.wanted != write.seen]
    try:
        for write, temporary in staged:
            _stage(write, temporary)
        for write, temporary in staged:
            _put(write, temporary)
    finally:
        for _, temporary in staged:
            atomic.remove_quietly(temporary)


def remove_leftovers(path: Path) -> None:
    """Remove what our killed process left beside a file whose lock we hold."""
    with suppress(OSError):
        for other in path.parent.iterdir():
            if other.suffix == atomic.TEMPORARY_SUFFIX and other.name.startswith(f".{path.name}."):
                atomic.remove_quietly(other)


def _look_at(file: PlannedFile, workspace: Path, places: Places) -> tuple[Path, bytes | None]:
    path = find_memory_file(file.place, file.path, workspace, places)
    return path, read_unlinked(path)


def _added(seen: bytes | None, version: bytes | None) -> bytes | None:
    """Give what was added behind a version of a file; None where it does not begin with that."""
    if seen == version:
        return b""
    if seen is None or version is None or (version and not version.endswith(b"\n")):
        return None
    return seen.removeprefix(version) if seen.startswith(version) else None


def _join(file: PlannedFile, version: bytes | None, added: bytes | None) -> bytes | None:
    if added is None or (added and version and not version.endswith(b"\n")):
        raise _changed(file)
    return (version or b"") + added if added else version


def _add_taken(file: PlannedFile, path: Path, seen: bytes | None) -> bytes:
    """Give a file with the sections at its end that a change took out of it."""
    if file.before is None or file.after is None:
        raise _changed(file)
    now = parse_memory_text(seen or b"", path)
    versions = [parse_memory_text(data, path).text for data in (file.before, file.after)]
    before, after, text = (each.replace("\r\n", "\n") for each in (*versions, now.text))
    added = write_taken_sections(before, after, text)
    if added is None:
        raise _changed(file)
    return replace(now, text=now.text + added).encode()


def _plan_write(
    file: PlannedFile, path: Path, seen: bytes | None, wanted: bytes | None
) -> FileWrite:
    return FileWrite(path=path, seen=seen, wanted=wanted, place=file.place)


def _stage(write: FileWrite, temporary: Path) -> None:
    """Write the new content under another name, for those who may read the old one."""
    if write.wanted is None:
        return
    if write.place == "state":
        atomic.make_folder(write.path.parent)
    try:
        if write.path.parent.name == FOLDER:
            # Not `parents`: a workspace that went away is not made again.
            write.path.parent.mkdir(mode=0o700, exist_ok=True)
        atomic.write_new_file(temporary, write.wanted)
        if write.seen is not None:
            atomic.give_owner(temporary, write.path)
            temporary.chmod(stat.S_IMODE(write.path.stat().st_mode))
    except OSError as error:
        raise unwritable_file(write.path, error) from None


def _put(write: FileWrite, temporary: Path) -> None:
    # An editor knows nothing of our lock: it may have saved meanwhile.
    if read_unlinked(write.path) != write.seen:
        raise changed_meanwhile(write.path)
    try:
        if write.wanted is None:
            write.path.unlink()
        elif write.seen is None:
            atomic.publish(temporary, write.path)
        else:
            atomic.rename_over(temporary, write.path)
    except FileExistsError:
        raise changed_meanwhile(write.path) from None
    except OSError as error:
        raise unwritable_file(write.path, error) from None
    atomic.sync_folder(write.path.parent)


def _changed(file: PlannedFile) -> ChangedMeanwhile:
    return ChangedMeanwhile(f"{file.path} was changed since")
