"""Indexes of transcripts on disk: a cache, thrown away whenever the file is not the same.

One small file a transcript below the state folder. A transcript is the same as long as its
device and inode, its first bytes and the bytes before the index's end are what they were.
"""

import os
from pathlib import Path

import msgspec

from ullage.core.text.digest import sha256
from ullage.core.transcript.lineage import EMPTY_INDEX, Index
from ullage.errors import UllageError
from ullage.store.files.atomic import replace_file
from ullage.store.files.places import Places
from ullage.store.transcript.reader import FileLines

VERSION = 2
MIN_GAIN_BYTES = 1024 * 1024
"""An index that would save less reading than this is not written (chosen)."""


class StoredIndex(msgspec.Struct, frozen=True, kw_only=True):
    """The content of an index file."""

    version: int
    path: str
    device: int
    inode: int
    head_sha256: str
    tail_sha256: str
    index: Index


def read_index(lines: FileLines, places: Places) -> Index:
    """Read what is known of a transcript; nothing where it is new or not the same."""
    try:
        data = _index_path(lines.path, places).read_bytes()
        stored = msgspec.json.decode(data, type=StoredIndex)
    except (OSError, ValueError, RecursionError):
        return EMPTY_INDEX
    fingerprint = lines.fingerprint
    is_same = (
        stored.version == VERSION
        and stored.path == str(lines.path)
        and (stored.device, stored.inode) == (fingerprint.device, fingerprint.inode)
        and stored.index.covered_bytes <= fingerprint.size_bytes
        and (stored.head_sha256, stored.tail_sha256) == lines.digests(stored.index.covered_bytes)
    )
    return stored.index if is_same else EMPTY_INDEX


def write_index(lines: FileLines, index: Index, before: Index, places: Places) -> None:
    """Keep an index where it saves reading; a state folder that cannot be written keeps none."""
    gain_bytes = index.covered_bytes - before.covered_bytes
    if gain_bytes < MIN_GAIN_BYTES or not places.keeps_caches:
        return
    head, tail = lines.digests(index.covered_bytes)
    stored = StoredIndex(
        version=VERSION,
        path=str(lines.path),
        device=lines.fingerprint.device,
        inode=lines.fingerprint.inode,
        head_sha256=head,
        tail_sha256=tail,
        index=index,
    )
    try:
        replace_file(_index_path(lines.path, places), msgspec.json.encode(stored))
    except UllageError:
        return


def _index_path(path: Path, places: Places) -> Path:
    name = sha256(os.fsencode(path.absolute())).hexdigest()[:32]
    return places.state_folder / "index" / f"{name}.json"
