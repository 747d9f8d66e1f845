"""Which repository and branch a folder is of, as git's own files say; git itself is not run."""

from pathlib import Path

import msgspec

from ullage.store.files.places import Places, is_project
from ullage.store.files.text_files import exists, read_plain_file

_MAX_BYTES = 8 * 1024
"""A path or the name of a branch (chosen)."""
_REF = "ref: "
_BRANCHES = "refs/heads/"
_REFTABLE = f"{_REF}{_BRANCHES}.invalid"
"""What stands in `HEAD` where git keeps its branches in a table, which we do not read."""


class WorkTree(msgspec.Struct, frozen=True, kw_only=True):
    """Where work is done: a repository's folder on one of its branches, or a plain folder."""

    root: Path
    branch: str
    """A commit where no branch is checked out; empty outside of a repository."""


def find_work_tree(folder: Path, places: Places) -> WorkTree | None:
    """Find the repository around a folder; None where its branch cannot be told.

    A repository of the home folder holds settings: what lies below it is no work of it.
    """
    try:
        folder = folder.resolve()
        for parent in (folder, *folder.parents):
            head = _read_head(parent / ".git") if is_project(parent, places) else None
            if head is not None:
                return None if head == _REFTABLE else WorkTree(root=parent, branch=_name(head))
    except (OSError, RuntimeError, ValueError):  # links in a circle, a path that is none
        return None
    return WorkTree(root=folder, branch="")


def list_folders_up(folder: Path) -> tuple[Path, ...]:
    """List a folder and those above it up to its repository's; outside of one, it alone."""
    folders = (folder, *folder.parents)
    top = next((at for at, each in enumerate(folders) if exists(each / ".git")), 0)
    return folders[: top + 1]


def _read_head(entry: Path) -> str | None:
    """Read what is checked out; the work tree of another repository has a file for `.git`."""
    pointer = _read_line(entry)
    folder = entry if pointer is None else entry.parent / pointer.removeprefix("gitdir: ")
    return _read_line(folder / "HEAD") or None


def _read_line(path: Path) -> str | None:
    data = read_plain_file(path, _MAX_BYTES)
    return None if data is None else data.decode("utf-8", "surrogateescape").strip()


def _name(head: str) -> str:
    return head.removeprefix(_REF).removeprefix(_BRANCHES)
