"""Checkpoints on disk: immutable files in a folder for each session, and a pointer (S1 §5.2)."""

import re
from contextlib import suppress
from pathlib import Path

import msgspec

from ullage.core.checkpoint import Checkpoint
from ullage.errors import CorruptCheckpoint, NewerCheckpoint
from ullage.store.checkpoint_yaml import dump, load
from ullage.store.files import create_file, remove_stale_temporaries, replace_file
from ullage.store.places import Places, make_folder, session_folder, unwritable

POINTER_NAME = "_latest.json"
_FILE_NAME = re.compile(r"cp_(\d{3,})\.yaml\Z")


class Pointer(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `_latest.json`."""

    checkpoint_id: str
    path: str
    """Name of the file, relative to the pointer's folder."""


class Latest(msgspec.Struct, frozen=True, kw_only=True):
    """The newest checkpoint of a session that can be read."""

    checkpoint: Checkpoint | None
    problem: str | None
    """Which newer files are damaged or of a newer Ullage, in one line for the user."""


def checkpoint_folder(session_key: str, places: Places) -> Path:
    return session_folder("checkpoints", session_key, places)


def list_ids(folder: Path) -> tuple[str, ...]:
    """List the ids of the checkpoints in a folder, oldest first."""
    try:
        names = [path.name for path in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    numbers = sorted(int(found[1]) for name in names if (found := _FILE_NAME.match(name)))
    return tuple(f"cp_{number:03}" for number in numbers)


def next_id(folder: Path) -> str:
    ids = list_ids(folder)
    return f"cp_{int(ids[-1].removeprefix('cp_')) + 1:03}" if ids else "cp_001"


def save(checkpoint: Checkpoint, folder: Path, *, n_kept: int) -> Path:
    """Write a checkpoint that must not exist, point to it, delete those beyond the newest few.

    Raises:
        FileExistsError: another checkpoint has this id; it is untouched.
        StateUnwritable: the disk does not take it; the earlier checkpoints are intact.
    """
    make_folder(folder)
    path = folder / f"{checkpoint.meta.checkpoint_id}.yaml"
    try:
        create_file(path, dump(checkpoint))
    except FileExistsError:
        raise
    except OSError as error:
        raise unwritable(path, error) from None
    point_to_newest(folder)
    _delete_old(folder, n_kept)
    remove_stale_temporaries(folder)
    return path


def carry_latest(old: Path, new: Path) -> None:
    """Copy the latest intact checkpoint of a session to the one that goes on from it.

    Raises:
        StateUnwritable: the state folder does not take it.
    """
    latest = read_latest(old).checkpoint
    if latest is None:
        return
    make_folder(new)
    name = f"{latest.meta.checkpoint_id}.yaml"
    try:
        create_file(new / name, (old / name).read_bytes())
    except (FileExistsError, FileNotFoundError):
        return
    except OSError as error:
        raise unwritable(new / name, error) from None
    point_to_newest(new)


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
        replace_file(path, data)


def read_latest(folder: Path) -> Latest:
    """Read the newest checkpoint that is intact, and say which ones before it are not.

    The numbers of the files decide, not the pointer: a writer that was killed may have left that
    behind.
    """
    problems: list[str] = []
    for checkpoint_id in reversed(list_ids(folder)):
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
        CorruptCheckpoint: it cannot be read, or is not one.
        NewerCheckpoint: a later version of Ullage wrote it.
    """
    try:
        return load(path.read_bytes())
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
