"""Which sessions left work in a work tree: a small file for each, written with its checkpoint.

By these a fresh session finds the last one without a look at the checkpoints of all folders.
docs/design/checkpoints.md, "A fresh session".
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from ullage.store.files.atomic import remove_quietly, replace_file
from ullage.store.files.places import Places, folder_name, session_folder
from ullage.store.files.state_file import read_state
from ullage.store.files.text_files import read_plain_file
from ullage.store.files.work_tree import WorkTree

MAX_AGE_S = 7 * 86_400.0
"""Work that nobody went on with for a week is not offered any more (chosen)."""
_OFFERED = "offered"
_MAX_BYTES = 4 * 1024


class LeftWork(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a file: the latest checkpoint that a session wrote in a work tree."""

    version: int = 1
    session_key: str
    checkpoint_id: str
    is_private: bool
    """Whether no other session is told of it."""


def note_work(work: LeftWork, tree: WorkTree, places: Places) -> None:
    """Note what a session left, and forget what is too old to be offered.

    Raises:
        StateUnwritable: the state folder does not take it.
    """
    folder = _folder(tree, places)
    for written_s, path in _files(folder):
        if time.time() - written_s > MAX_AGE_S:
            remove_quietly(path)
    replace_file(folder / f"{folder_name(work.session_key)}.json", msgspec.json.encode(work))


def list_work(tree: WorkTree, places: Places) -> Iterator[LeftWork]:
    """Go through what was left in a work tree, the newest first."""
    for _, path in sorted(_files(_folder(tree, places)), reverse=True):
        work = read_state(path, LeftWork, 1).content
        if work is not None:
            yield work


def mark_offered(session_key: str, what: str, places: Places) -> bool:
    """Note that something was offered to a session; False where it was before.

    Raises:
        StateUnwritable: the state folder does not take it.
    """
    path = session_folder("state", session_key, places) / _OFFERED
    data = what.encode("utf-8", "surrogateescape")[:_MAX_BYTES]
    if read_plain_file(path, _MAX_BYTES) == data:
        return False
    replace_file(path, data)
    return True


def _folder(tree: WorkTree, places: Places) -> Path:
    return places.state_folder / "context" / "work" / folder_name(f"{tree.root}\n{tree.branch}")


def _files(folder: Path) -> list[tuple[float, Path]]:
    """List the files with the times when they were written; another process may remove one."""
    files: list[tuple[float, Path]] = []
    for path in folder.glob("[!.]*.json"):
        with suppress(OSError):
            files.append((path.stat().st_mtime, path))
    return files
