"""Which sessions worked in a work tree, on which branch: a small file for each.

It is written as a session begins and with each of its checkpoints. By these a fresh session finds
what the last one left, beside the transcripts: docs/design/checkpoints.md, "A fresh session".
"""

import time
from pathlib import Path

import msgspec

from ullage.store.files.atomic import remove_quietly, replace_file
from ullage.store.files.places import Places, folder_name, session_folder
from ullage.store.files.state_file import read_state
from ullage.store.files.text_files import exists, read_plain_file
from ullage.store.files.work_tree import WorkTree

MAX_AGE_S = 7 * 86_400.0
"""Work that nobody went on with for a week is not offered any more (chosen)."""
_OFFERED = "offered"
_MAX_BYTES = 4 * 1024
_VERSION = 2


class LeftWork(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a file: where a session worked when it was written."""

    version: int = _VERSION
    session_key: str
    session_id: str
    branch: str
    origin: str
    """Of the repository, as `WorkTree` has it."""
    is_private: bool
    """Whether no other session is told of it."""
    left_s: float
    """When the session's last record was written, in seconds since 1970."""
    checkpoint_id: str | None = None
    """None where it had only begun."""

    def is_of(self, tree: WorkTree) -> bool:
        """Whether it worked in this repository; one that had no origin may have got one."""
        return self.origin in ("", tree.origin) and self.left_s >= tree.made_s


def note_work(work: LeftWork, tree: WorkTree, places: Places) -> None:
    """Note where a session works, and forget what is too old to be offered.

    Raises:
        StateUnwritable: the state folder does not take it.
    """
    path = _path(work, tree, places)
    if work.checkpoint_id is None and exists(path):
        return
    for other in path.parent.glob("[!.]*.json"):
        if _is_old(other):
            remove_quietly(other)
    replace_file(path, msgspec.json.encode(work))


def list_work(tree: WorkTree, places: Places) -> list[LeftWork]:
    """List what is noted of a folder, whichever its repository and branch, the newest first."""
    paths = _folder(tree, places).glob("[!.]*.json")
    read = (read_state(path, LeftWork, _VERSION).content for path in paths)
    return sorted(filter(None, read), key=lambda work: work.left_s, reverse=True)


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
    return places.state_folder / "context" / "work" / folder_name(str(tree.root))


def _path(work: LeftWork, tree: WorkTree, places: Places) -> Path:
    return _folder(tree, places) / f"{folder_name(work.session_id)}.json"


def _is_old(path: Path) -> bool:
    """Whether a file is; another process may remove it meanwhile."""
    try:
        return time.time() - path.stat().st_mtime > MAX_AGE_S
    except OSError:
        return False
