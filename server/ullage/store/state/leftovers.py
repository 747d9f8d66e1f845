"""What interrupted writes left below the state folder, and beside sessions."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import cast

import msgspec

from ullage.errors import CorruptCheckpoint, NewerCheckpoint, StorageError
from ullage.store.change.journal import RewriteIntent, read_entry
from ullage.store.checkpoint.files import list_ids, read_checkpoint
from ullage.store.files.atomic import is_temporary
from ullage.store.files.places import Places

MAX_LOOKED_AT = 20_000
"""Files below a folder that are looked at, so that a check has an end (chosen)."""


class Leftover(msgspec.Struct, frozen=True, kw_only=True):
    code: str
    path: Path


def find_leftovers(places: Places, beside: Iterable[Path] = ()) -> tuple[Leftover, ...]:
    """List temporary files, journals, checkpoints that are damaged, folders that stay closed.

    Of an agent's folders, those `beside`, our temporary copies of sessions.
    """
    leftovers: list[Leftover] = []
    n_seen = 0

    def on_error(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            leftovers.append(
                Leftover(code="unreadable-state", path=Path(cast(str, error.filename)))
            )

    for name, _, files in os.walk(places.state_folder, onerror=on_error):
        folder = Path(name)
        n_seen += len(files)
        if n_seen > MAX_LOOKED_AT:
            break
        for file in sorted(files):
            if file.endswith(".tmp"):
                leftovers.append(Leftover(code="leftover-temporary", path=folder / file))
            elif folder.name == "journals" and not _is_settled(folder / file):
                leftovers.append(Leftover(code="leftover-journal", path=folder / file))
        leftovers += _damaged_checkpoints(folder)
    copies = dict.fromkeys(path for folder in beside for path in _temporary_copies(folder))
    return (*leftovers, *(Leftover(code="leftover-temporary", path=path) for path in copies))


def _temporary_copies(folder: Path) -> Iterator[Path]:
    n_seen = 0
    # A session's header may name a folder that no disk can have.
    with suppress(ValueError):
        for name, _, files in os.walk(folder):
            n_seen += len(files)
            if n_seen > MAX_LOOKED_AT:
                return
            yield from (
                Path(name, each) for each in sorted(files) if is_temporary(each, of=".jsonl")
            )


def _is_settled(journal: Path) -> bool:
    """Whether a journal only waits for late writers of an old file, as after every rewrite."""
    entry = read_entry(journal)
    return entry is not None and isinstance(entry.intent, RewriteIntent) and entry.intent.is_settled


def _damaged_checkpoints(folder: Path) -> list[Leftover]:
    try:
        ids = list_ids(folder)
    except StorageError:
        return [Leftover(code="unreadable-state", path=folder)]
    leftovers: list[Leftover] = []
    for path in (folder / f"{checkpoint_id}.yaml" for checkpoint_id in ids):
        try:
            read_checkpoint(path)
        except (FileNotFoundError, NewerCheckpoint):
            continue
        except CorruptCheckpoint:
            leftovers.append(Leftover(code="corrupt-checkpoint", path=path))
    return leftovers
