"""Checkpoints on disk: immutable files in a folder for each session, and a pointer.

docs/design/checkpoints.md, "Files".
"""

import re
from contextlib import suppress
from pathlib import Path

import msgspec

from ullage.core.checkpoint.checkpoint import Checkpoint
from ullage.errors import CorruptCheckpoint, NewerCheckpoint, StorageError
from ullage.store.checkpoint.yaml_file import dump, load
from ullage.store.files import atomic
from ullage.store.files.places import is_there

POINTER_NAME = "_latest.json"
FIRST_ID = "cp_001"
_FILE_NAME = re.compile(r"cp_([0-9]{3}|[1-9][0-9]{3,})\.yaml\Z")


class Pointer(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `_latest.json`."""

    checkpoint_id: str
    path: str
    """Name of the file, relative to the pointer's folder."""


class Latest(msgspec.Struct, frozen=True, kw_only=True):
    """The newest checkpoint of a session that can be read."""

    checkpoint: Checkpoint | None
    problem: str | None
    """Why there is none, or a newer one is passed over, in one line for the user."""


def list_ids(folder: Path) -> tuple[str, ...]:
    """List the ids of the checkpoints in a folder, oldest first.

    Raises:
        StorageError: the system does not list the folder.
    """
    return tuple(_id(number) for number, is_file in _numbered(folder) if is_file)


def find_session_key(session_id: str, folder: Path) -> str | None:
    """Find the key of a session by its whole id, in the folder of all checkpoints."""
    for path in folder.iterdir() if is_there(folder) else ():
        # A key with a colon is changed to be a folder's name, and ends in a digest then.
        if f"_{session_id}-" in path.name:
            latest = read_latest(path).checkpoint
            if latest is not None and latest.meta.session_key.partition(":")[2] == session_id:
                return latest.meta.session_key
    return None


def next_id(folder: Path) -> str:
    """Give the id after all of a folder, whatever has their names.

    Raises:
        StorageError: the system does not list the folder.
    """
    taken = _numbered(folder)
    return _id(taken[-1][0] + 1) if taken else FIRST_ID


def _id(number: int) -> str:
    return f"cp_{number:03}"


def _numbered(folder: Path) -> list[tuple[int, bool]]:
    """Give the numbers that are taken, in order, and whether a regular file has them."""
    try:
        return sorted(
            (int(match[1]), path.is_file())
            for path in folder.iterdir()
            if (match := _FILE_NAME.match(path.name))
        )
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageError(
            f"cannot list {folder}: {reason}. Make it readable, or set ULLAGE_STATE_DIR to a"
            " folder that is"
        ) from None


def save(checkpoint: Checkpoint, folder: Path, *, n_kept: int) -> Path:
    """Write a checkpoint that must not exist, point to it, delete those beyond the newest few.

    Raises:
        FileExistsError: another checkpoint has this id; it is untouched.
        StateUnwritable: the disk does not take it; the earlier checkpoints are intact.
    """
    path = _create(checkpoint, folder)
    _delete_old(folder, n_kept)
    return path


def _create(checkpoint: Checkpoint, folder: Path) -> Path:
    path = folder / f"{checkpoint.meta.checkpoint_id}.yaml"
    data = dump(checkpoint)
    atomic.create_state_file(path, data)
    point_to_newest(folder)
    return path


def carry(checkpoint: Checkpoint, folder: Path) -> None:
    """Save a checkpoint, under its id, for the session that goes on from it.

    Raises:
        StateUnwritable: the state folder does not take it.
    """
    with suppress(FileExistsError):
        _create(checkpoint, folder)


def carry_latest(old: Path, new: Path) -> None:
    """Save the latest intact checkpoint of a session for the one that goes on from it.

    Raises:
        StateUnwritable: the state folder does not take it.
    """
    latest = read_latest(old).checkpoint
    if latest is not None:
        carry(latest, new)


def point_to_newest(folder: Path) -> None:
    """Let the pointer name the newest file; one that is damaged, missing or behind is replaced.

    Two writers need no lock: each looks again after it wrote, and the one who writes last sees
    the files of both.

    Raises:
        StateUnwritable: the disk does not take it; readers of ours look at the files themselves.
    """
    path = folder / POINTER_NAME
    while ids := list_ids(folder):
        pointer = Pointer(checkpoint_id=ids[-1], path=f"{ids[-1]}.yaml")
        data = msgspec.json.encode(pointer) + b"\n"
        try:
            is_right = path.read_bytes() == data
        except OSError:
            is_right = False
        if is_right:
            return
        atomic.replace_file(path, data)


def read_latest(folder: Path) -> Latest:
    """Read the newest checkpoint that is intact, and say which ones before it are not.

    The numbers of the files decide, not the pointer: a writer that was killed may have left that
    behind.
    """
    problems: list[str] = []
    try:
        ids = list_ids(folder)
    except StorageError as error:
        return Latest(checkpoint=None, problem=str(error))
    for checkpoint_id in reversed(ids):
        path = folder / f"{checkpoint_id}.yaml"
        try:
            checkpoint = read_checkpoint(path)
        except FileNotFoundError:
            continue
        except (CorruptCheckpoint, NewerCheckpoint) as error:
            problems.append(str(error))
        else:
            problem = f"{'; '.join(problems)}; {checkpoint_id} is used" if problems else None
            return Latest(checkpoint=checkpoint, problem=problem)
    problem = f"{'; '.join(problems)}; there is no earlier one" if problems else None
    return Latest(checkpoint=None, problem=problem)


def read_checkpoint(path: Path) -> Checkpoint:
    """Read one checkpoint.

    Raises:
        FileNotFoundError: there is none; retention may have taken it.
        CorruptCheckpoint: it cannot be read, is not one, or has the id of another file.
        NewerCheckpoint: a later version of Ullage wrote it.
    """
    try:
        checkpoint = load(path.read_bytes())
        if checkpoint.meta.checkpoint_id != path.stem:
            raise CorruptCheckpoint("its id is not that of its file")
        return checkpoint
    except FileNotFoundError:
        raise
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise CorruptCheckpoint(f"{path.name} cannot be read ({reason})") from None
    except CorruptCheckpoint as error:
        raise CorruptCheckpoint(f"{path.name} is damaged: {error}") from None
    except NewerCheckpoint as error:
        raise NewerCheckpoint(f"{path.name}: {error}") from None


def _delete_old(folder: Path, n_kept: int) -> None:
    """Delete the oldest; those of a newer Ullage are its own to delete."""
    for checkpoint_id in list_ids(folder)[:-n_kept]:
        path = folder / f"{checkpoint_id}.yaml"
        with suppress(OSError, NewerCheckpoint):
            with suppress(CorruptCheckpoint):
                read_checkpoint(path)
            path.unlink()
