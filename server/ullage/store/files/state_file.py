"""Small files of a session's state: versioned, replaced whole, moved aside when damaged."""

from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from ullage.errors import StorageError
from ullage.store.files.atomic import remove_quietly, replace_file, unwritable
from ullage.store.files.places import Places, session_folder

T = TypeVar("T")


class StateFile(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """What was read of a state file."""

    content: T | None
    """None where there is no readable file."""
    problem: str | None = None
    """Why there is no content although there is a file, in words for the user."""
    is_newer: bool = False
    """Whether a later version of Ullage wrote the file, which is then left alone."""
    is_unread: bool = False
    """Whether the system did not let us read it: it may be whole, and is left alone too."""


class SessionFile(msgspec.Struct, Generic[T], frozen=True):
    """A kind of state file of which each session has one."""

    name: str
    shape: type[T]
    version: int = 1

    def path(self, session_key: str, places: Places) -> Path:
        return session_folder("state", session_key, places) / self.name

    def read(self, session_key: str, places: Places) -> StateFile[T]:
        return read_state(self.path(session_key, places), self.shape, self.version)

    def remove(self, session_key: str, places: Places) -> None:
        """Remove what can be made anew, if it is there and the system lets us."""
        remove_quietly(self.path(session_key, places))


class _Version(msgspec.Struct, frozen=True):
    version: int


def read_state(path: Path, of: type[T], version: int) -> StateFile[T]:
    """Read a state file; one that cannot be read is a problem, never an exception."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return StateFile(content=None)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problem = f"{path} cannot be read ({reason})"
        return StateFile(content=None, problem=problem, is_unread=True)
    try:
        if msgspec.json.decode(data, type=_Version).version > version:
            problem = f"{path} is of a newer version of Ullage: update this one"
            return StateFile(content=None, problem=problem, is_newer=True)
        return StateFile(content=msgspec.json.decode(data, type=of))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return StateFile(content=None, problem=f"{path} is damaged")


def replace_state(path: Path, before: StateFile[T], content: msgspec.Struct) -> str | None:
    """Replace a state file that was read as `known`; a damaged one is moved aside first.

    Gives the problem that the old file had, and where it is now, in words for the user.

    Raises:
        StateUnwritable: the state folder does not take it; the old file is intact.
        StorageError: a newer version wrote the file, or it could not be read.
    """
    problem = None
    if before.problem is not None:
        if before.is_newer or before.is_unread:
            raise StorageError(before.problem)
        problem = f"{before.problem}; it was moved to {set_aside(path).name}"
    replace_file(path, msgspec.json.encode(content) + b"\n")
    return problem


def set_aside(path: Path) -> Path:
    """Move a damaged file out of the way under a name of its own.

    Raises:
        StateUnwritable: the system does not let us.
    """
    number = 1
    while (aside := path.with_name(f"{path.name}.corrupt-{number}")).exists():
        number += 1
    try:
        path.rename(aside)
    except OSError as error:
        raise unwritable(path, error) from None
    return aside
