"""Which repository and branch a folder is of, as git's own files say; git itself is not run."""

import re
from pathlib import Path

import msgspec

from ullage.core.text.digest import sha256
from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.store.files.places import Places, is_project
from ullage.store.files.text_files import exists, read_plain_file

_MAX_BYTES = 8 * 1024
"""A path or the name of a branch (chosen)."""
_MAX_CONFIG_BYTES = 1024 * 1024
"""It has some lines for each branch (chosen)."""
_REF = "ref: "
_BRANCHES = "refs/heads/"
_REFTABLE = f"{_REF}{_BRANCHES}.invalid"
"""What stands in `HEAD` where git keeps its branches in a table, which we do not read."""
_ORIGIN = lazy_pattern(
    r'^[ \t]*\[remote "origin"\][^\[]*?^[ \t]*url[ \t]*=([^\n]*)$',
    re.MULTILINE | re.IGNORECASE,
)
_USER = lazy_pattern(r"(?<=://)[^/@\s]*@")
"""Who one is at a server, maybe with a password: that may change, and is nobody's business."""


class WorkTree(msgspec.Struct, frozen=True, kw_only=True):
    """Where work is done: a repository's folder on one of its branches, or a plain folder."""

    root: Path
    branch: str
    """A commit where no branch is checked out; empty outside of a repository."""
    origin: str = ""
    """A digest of where the repository comes from; empty where it names no `origin`."""
    made_s: float = 0.0
    """When it was cloned or begun here, in seconds since 1970; 0 where that cannot be told."""


def find_work_tree(folder: Path, places: Places) -> WorkTree | None:
    """Find the repository around a folder; None where its branch cannot be told.

    A repository of the home folder holds settings: what lies below it is no work of it.
    """
    try:
        folder = folder.resolve()
        for parent in (folder, *folder.parents):
            own = _find_git_folder(parent / ".git") if is_project(parent, places) else None
            head = None if own is None else _read_line(own / "HEAD")
            if own is not None and head:
                return None if head == _REFTABLE else _describe(parent, own, head)
    except (OSError, RuntimeError, ValueError):  # links in a circle, a path that is none
        return None
    return WorkTree(root=folder, branch="")


def list_folders_up(folder: Path) -> tuple[Path, ...]:
    """List a folder and those above it up to its repository's; outside of one, it alone."""
    folders = (folder, *folder.parents)
    top = next((at for at, each in enumerate(folders) if exists(each / ".git")), 0)
    return folders[: top + 1]


def _find_git_folder(entry: Path) -> Path:
    """Find git's own folder; the work tree of another repository has a file for `.git`."""
    pointer = _read_line(entry)
    return entry if pointer is None else entry.parent / pointer.removeprefix("gitdir: ")


def _describe(root: Path, own: Path, head: str) -> WorkTree:
    # What several work trees share lies in the folder of the first.
    shared = own / (_read_line(own / "commondir") or "")
    # Git writes either once, and never again.
    entry = root / ".git"
    once = entry if entry.is_file() else own / "description"
    return WorkTree(
        root=root,
        branch=head.removeprefix(_REF).removeprefix(_BRANCHES),
        origin=_identify_origin(_read(shared / "config", _MAX_CONFIG_BYTES) or ""),
        made_s=once.stat().st_mtime if exists(once) else 0.0,
    )


def _identify_origin(settings: str) -> str:
    origin = _ORIGIN.search(settings)
    if origin is None:
        return ""
    url = _USER.sub("", origin[1].strip())
    return sha256(url.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _read_line(path: Path) -> str | None:
    text = _read(path, _MAX_BYTES)
    return None if text is None else text.strip()


def _read(path: Path, max_bytes: int) -> str | None:
    data = read_plain_file(path, max_bytes)
    return None if data is None else data.decode("utf-8", "surrogateescape")
