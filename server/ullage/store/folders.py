"""Folders of agents' transcripts, listed; what cannot be read is passed over."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec


class Found(msgspec.Struct, frozen=True, kw_only=True):
    path: Path
    mtime_ns: int


def newest_first(files: Iterable[Found]) -> list[Found]:
    return sorted(files, key=lambda found: found.mtime_ns, reverse=True)


def transcripts_in(folder: Path) -> Iterator[Found]:
    """List the `.jsonl` files of a folder."""
    try:
        with os.scandir(folder) as listing:
            entries = list(listing)
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith(".jsonl"):
            try:
                yield Found(path=Path(entry.path), mtime_ns=entry.stat().st_mtime_ns)
            except OSError:
                continue


def transcripts_below(root: Path) -> Iterator[Found]:
    """List the `.jsonl` files of a folder and of all folders in it."""
    for folder, _, _ in os.walk(root):
        yield from transcripts_in(Path(folder))
