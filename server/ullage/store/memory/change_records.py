"""Records of changes of a workspace's memory, `changes/NNNN.json`: each has the earlier texts."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from ullage.errors import StorageError
from ullage.store.files import atomic
from ullage.store.files.places import Places
from ullage.store.files.state_file import StateFile, read_state
from ullage.store.memory.places import memory_folder
from ullage.store.memory.planned_files import PlannedFile

VERSION = 1
MAX_CHANGES = 100
"""The newest are kept; of older ones, no earlier text is known any more (chosen)."""
_NAME = re.compile(r"(\d{4,})\.json\Z")
State: TypeAlias = Literal["begun", "done", "left", "undone"]
"""An interrupted change is `begun` until somebody finishes it, or leaves all as it is. That one
was `undone` is told by the record of what took it back.
"""


class MemoryChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of memory, or what took one back."""

    change_id: str
    at: str
    """RFC 3339."""
    what: str
    """One line, for people."""
    files: tuple[PlannedFile, ...]
    state: State
    undoes: str | None = None
    """The change that it took back."""
    notes: tuple[str, ...] = ()
    """What became of it where it was interrupted or a file was changed since, for the user."""


class MemoryChanges(msgspec.Struct, frozen=True, kw_only=True):
    changes: tuple[MemoryChange, ...]
    """Newest first."""
    problems: tuple[str, ...]
    """Of records that could not be read, for the user."""


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a record; the bytes of files are in base64."""

    version: int = VERSION
    change: MemoryChange


def list_memory_changes(workspace: Path, places: Places) -> MemoryChanges:
    """List the changes of a workspace's memory that are kept; nothing is finished here.

    Raises:
        StateUnwritable: the system does not list them.
    """
    changes: list[MemoryChange] = []
    problems: list[str] = []
    undone: set[str] = set()
    for number in reversed(_list_numbers(workspace, places)):
        stored = _read_record(number, workspace, places)
        if stored.problem is not None:
            problems.append(stored.problem)
        if stored.content is not None:
            change = stored.content.change
            if change.undoes and change.state == "done":
                undone.add(change.undoes)
            is_undone = change.change_id in undone
            changes.append(replace(change, state="undone") if is_undone else change)
    return MemoryChanges(changes=tuple(changes), problems=tuple(problems))


def record_path(change_id: str, workspace: Path, places: Places) -> Path:
    return _folder(workspace, places) / f"{change_id}.json"


def find_begun(workspace: Path, places: Places) -> MemoryChange | None:
    """Find a change that was interrupted: none comes after it before that is seen to.

    Raises:
        StorageError: the newest record cannot be read.
    """
    for number in _list_numbers(workspace, places)[-1:]:
        stored = _read_record(number, workspace, places)
        if stored.is_unread or stored.is_newer:
            raise StorageError(stored.problem)
        if stored.content is not None and stored.content.change.state == "begun":
            return stored.content.change
    return None


def begin_change(
    files: Sequence[PlannedFile],
    what: str,
    undoes: str | None,
    at: str,
    workspace: Path,
    places: Places,
    notes: tuple[str, ...] = (),
) -> MemoryChange:
    """Note a change that is about to be made, and forget the oldest of many.

    Raises:
        StorageError: the state folder does not take it, and the change must not be made.
    """
    numbers = _list_numbers(workspace, places)
    number = numbers[-1] + 1 if numbers else 1
    change = MemoryChange(
        change_id=_name(number),
        at=at,
        what=what,
        files=tuple(files),
        state="begun",
        undoes=undoes,
        notes=notes,
    )
    write_record(change, workspace, places)
    for old in numbers[: 1 - MAX_CHANGES]:
        atomic.remove_quietly(record_path(_name(old), workspace, places))
    atomic.remove_stale_temporaries(_folder(workspace, places))
    return change


def write_record(change: MemoryChange, workspace: Path, places: Places) -> None:
    """Write the record of a change in place of its earlier one.

    Raises:
        StorageError: the state folder does not take it.
    """
    path = record_path(change.change_id, workspace, places)
    atomic.replace_file(path, msgspec.json.encode(_Record(change=change)) + b"\n")


def remove_record(change: MemoryChange, workspace: Path, places: Places) -> bool:
    """Forget a change that was not made; give whether that lasts."""
    path = record_path(change.change_id, workspace, places)
    try:
        path.unlink()
        atomic.sync_folder(path.parent)
    except (OSError, StorageError):
        return False
    return True


def _folder(workspace: Path, places: Places) -> Path:
    return memory_folder(workspace, places) / "changes"


def _name(number: int) -> str:
    return f"{number:04}"


def _list_numbers(workspace: Path, places: Places) -> list[int]:
    folder = _folder(workspace, places)
    try:
        names = [path.name for path in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise atomic.unwritable(folder, error) from None
    return sorted(int(match[1]) for name in names if (match := _NAME.match(name)))


def _read_record(number: int, workspace: Path, places: Places) -> StateFile[_Record]:
    path = record_path(_name(number), workspace, places)
    return read_state(path, _Record, VERSION)
