"""Checkpoints on disk: immutable files in a folder for each session, and a pointer (S1 §5.2)."""

import re
from pathlib import Path

import msgspec

from ullage.core.checkpoint import Checkpoint
from ullage.errors import CorruptCheckpoint
from ullage.store.checkpoint_yaml import dump, load
from ullage.store.files import replace_file
from ullage.store.places import Places, make_folder, session_folder

KEPT_CHECKPOINTS = 5
"""Older ones are deleted (S1 §5.5)."""
POINTER_NAME = "_latest.json"
_FILE_NAME = re.compile(r"cp_(\d{3,})\.yaml\Z")


class Pointer(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `_latest.json`."""

    checkpoint_id: str
    path: str
    """Name of the file, relative to the pointer's folder."""


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


def save(checkpoint: Checkpoint, folder: Path) -> Path:
    """Write a checkpoint, point to it, and delete those beyond the newest few.

    Raises:
        StateUnwritable: the disk does not take it; the earlier checkpoints are intact.
    """
    make_folder(folder)
    path = folder / f"{checkpoint.meta.checkpoint_id}.yaml"
    replace_file(path, dump(checkpoint))
    pointer = Pointer(checkpoint_id=checkpoint.meta.checkpoint_id, path=path.name)
    replace_file(folder / POINTER_NAME, msgspec.json.encode(pointer) + b"\n")
    for old_id in list_ids(folder)[:-KEPT_CHECKPOINTS]:
        (folder / f"{old_id}.yaml").unlink(missing_ok=True)
    return path


def read_latest(folder: Path) -> Checkpoint | None:
    """Read the newest checkpoint that is intact; None where there is none."""
    for checkpoint_id in reversed(list_ids(folder)):
        try:
            return load((folder / f"{checkpoint_id}.yaml").read_bytes())
        except (CorruptCheckpoint, OSError):
            continue
    return None
