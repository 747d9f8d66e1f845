"""The checkpoints of a session: listed, found by their ids, compared."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ullage.app.sessions.session import Session
from ullage.core.checkpoint.checkpoint import Checkpoint
from ullage.core.checkpoint.diff import Change, diff
from ullage.errors import CheckpointNotFound, CorruptCheckpoint, NewerCheckpoint
from ullage.store.checkpoint.files import list_ids, read_checkpoint, read_latest
from ullage.store.files.places import Places, session_folder


class SavedCheckpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint and its file."""

    checkpoint: Checkpoint
    path: Path
    problem: str | None = None
    """Which newer files were passed over, in one line for the user."""

    @property
    def checkpoint_id(self) -> str:
        return self.checkpoint.meta.checkpoint_id


class Damaged(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a checkpoint that cannot be read."""

    checkpoint_id: str
    path: Path
    problem: str
    """In one line for the user."""


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """The checkpoints of a session."""

    session_key: str
    folder: Path
    saved: tuple[SavedCheckpoint, ...]
    """Newest first."""
    damaged: tuple[Damaged, ...]
    """Newest first."""

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(checkpoint.problem for checkpoint in self.damaged)


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    old: SavedCheckpoint
    new: SavedCheckpoint
    changes: tuple[Change, ...]


def list_checkpoints(session: Session, places: Places) -> Listing:
    """Read all checkpoints of a session.

    Raises:
        StorageError: the system does not list their folder.
    """
    key = session.state_key
    folder = session_folder("checkpoints", key, places)
    saved: list[SavedCheckpoint] = []
    damaged: list[Damaged] = []
    for checkpoint_id in reversed(list_ids(folder)):
        path = folder / f"{checkpoint_id}.yaml"
        try:
            saved.append(SavedCheckpoint(checkpoint=read_checkpoint(path), path=path))
        except FileNotFoundError:
            continue
        except (CorruptCheckpoint, NewerCheckpoint) as error:
            damaged.append(Damaged(checkpoint_id=checkpoint_id, path=path, problem=str(error)))
    return Listing(session_key=key, folder=folder, saved=tuple(saved), damaged=tuple(damaged))


def find_checkpoint(session: Session, checkpoint_id: str | None, places: Places) -> SavedCheckpoint:
    """Find a checkpoint by its id, such as `cp_003` or `3`; the latest one if none is named.

    Raises:
        CheckpointNotFound: there is none of this id, or none at all.
        CorruptCheckpoint, NewerCheckpoint: it is there, and cannot be read.
    """
    folder = session_folder("checkpoints", session.state_key, places)
    if checkpoint_id is None:
        latest = read_latest(folder)
        if latest.checkpoint is None:
            raise _none(session, latest.problem)
        path = folder / f"{latest.checkpoint.meta.checkpoint_id}.yaml"
        return SavedCheckpoint(checkpoint=latest.checkpoint, path=path, problem=latest.problem)
    wanted = f"cp_{int(checkpoint_id):03}" if _is_number(checkpoint_id) else checkpoint_id
    ids = list_ids(folder)
    path = folder / f"{wanted}.yaml"
    if wanted not in ids:
        raise _unknown(session, checkpoint_id, ids)
    try:
        return SavedCheckpoint(checkpoint=read_checkpoint(path), path=path)
    except FileNotFoundError:
        raise _unknown(session, checkpoint_id, list_ids(folder)) from None


def compare(session: Session, old_id: str | None, new_id: str | None, places: Places) -> Difference:
    """Compare two checkpoints: by default the latest with the one that it follows.

    Raises:
        CheckpointNotFound: one of them is not there.
        CorruptCheckpoint, NewerCheckpoint: one of them cannot be read.
    """
    new = find_checkpoint(session, new_id, places)
    old = (
        _before(session, new, places)
        if old_id is None
        else find_checkpoint(session, old_id, places)
    )
    return Difference(old=old, new=new, changes=diff(old.checkpoint, new.checkpoint))


def known_ids(session: Session, places: Places) -> tuple[str, ...]:
    return list_ids(session_folder("checkpoints", session.state_key, places))


def _before(session: Session, new: SavedCheckpoint, places: Places) -> SavedCheckpoint:
    """Give the checkpoint that another checkpoint follows: by its own word, else by the numbers.

    A file that is gone or damaged is passed over; the next intact checkpoint below it serves.
    """
    listing = list_checkpoints(session, places)
    older = [checkpoint for checkpoint in listing.saved if _number(checkpoint) < _number(new)]
    wanted = new.checkpoint.meta.previous_checkpoint
    linked = [checkpoint for checkpoint in older if checkpoint.checkpoint_id == wanted]
    for checkpoint in linked or older:
        return checkpoint
    raise CheckpointNotFound(
        f"{new.checkpoint_id} is the only checkpoint that can be read:"
        " there is nothing to compare it with yet"
    )


def _number(checkpoint: SavedCheckpoint) -> int:
    return int(checkpoint.checkpoint_id.removeprefix("cp_"))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 9


def _unknown(session: Session, checkpoint_id: str, ids: Sequence[str]) -> CheckpointNotFound:
    if not ids:
        return _none(session, None)
    return CheckpointNotFound(
        f"there is no checkpoint {checkpoint_id[:40]!r}, only {', '.join(ids)}"
    )


def _none(session: Session, problem: str | None) -> CheckpointNotFound:
    what = "there is no checkpoint yet"
    if problem is not None:
        what = f"no checkpoint can be read ({problem})"
    return CheckpointNotFound(f"{what}: `{session.command('checkpoint write')}` makes one")
