"""Findings on paths that an instruction file names and that are not there."""

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

import msgspec

from ullage.app.documents.check import Surroundings
from ullage.app.documents.instruction_loading import takes_imports
from ullage.core.documents.finding import DocumentFinding, TextFix
from ullage.core.documents.mentioned_paths import PASSING_FOLDERS, Mention, mentions
from ullage.core.text.gitignore import ignore_spec, is_ignored
from ullage.core.text.positions import Positions
from ullage.store.files.text_files import exists, is_folder, list_names, read_text_file

CLOSE_RATIO = 0.8
"""Of a name to one that is there, as difflib measures it (chosen)."""
MAX_SUGGESTIONS = 3


class _Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a mentioned path may lead: relative to one of the folders that it may be meant from."""

    first: Path
    """Of the names in it; that one is the workspace's, or the path is none of it."""
    end: Path


def dead_paths(path: Path, text: str, around: Surroundings) -> Iterator[DocumentFinding]:
    """Find the mentioned paths that lead nowhere, from this folder or any above it.

    Outside of a workspace nothing is found: there, paths are relative to whatever is worked on.
    A path whose first folder is not there is a route, a package, or in another repository. One
    that is right from some folder further down is one that an agent finds.
    """
    workspace = around.workspace_of(path)
    if workspace is None:
        return
    folders = [path.parent, *(at for at in path.parents[1:] if at.is_relative_to(workspace))]
    found = mentions(text)
    if not takes_imports(path):
        found = tuple(one for one in found if one.kind != "import")
    missing = [one for one in found if _is_missing(one, folders)]
    if not missing:
        return
    ignored = _Ignored(folders)
    names = list_names(workspace, PASSING_FOLDERS)
    if names is None:
        return
    tails = {f"/{name.rstrip('/')}" for name in names}
    positions = Positions(text)
    for one in missing:
        wanted = "/" + "/".join(part for part in one.path.split("/") if part not in ("", ".", ".."))
        if one in ignored or any(tail.endswith(wanted) for tail in tails):
            continue
        extent = positions.extent(one.start, one.end)
        near = _nearest(one.path, names)
        yield DocumentFinding(
            code="instructions-dead-path",
            extent=extent,
            message=f"{one.path} does not exist in this workspace.",
            fixes=tuple(
                TextFix(title=f"Did you mean {name}?", extent=extent, new_text=name)
                for name in near
            ),
        )


def _is_missing(one: Mention, folders: list[Path]) -> bool:
    places = _places(one, folders)
    begun = [place for place in places if is_folder(place.first)]
    if one.path.endswith("/"):
        # What has no folder above it either is a route as likely as a folder.
        begun = [place for place in begun if is_folder(place.end.parent)]
    return begun != [] and not any(exists(place.end) for place in places)


def _places(one: Mention, folders: list[Path]) -> list[_Place]:
    found = (_place(one, folder, folders[-1]) for folder in folders)
    return [place for place in found if place is not None]


def _place(one: Mention, folder: Path, workspace: Path) -> _Place | None:
    """Give where a path leads from a folder; None for out of the workspace."""
    names = [name for name in one.path.split("/") if name not in ("", ".")]
    n_up = next((at for at, name in enumerate(names) if name != ".."), len(names))
    start = (folder, *folder.parents)[min(n_up, len(folder.parents))]
    if not start.is_relative_to(workspace) or n_up == len(names):
        return None
    below = names[n_up:]
    return _Place(first=start / below[0] if below[1:] else start, end=start.joinpath(*below))


class _Ignored:
    """The mentions that a `.gitignore` of the folders says may lead to nothing."""

    def __init__(self, folders: list[Path]) -> None:
        self._folders = folders
        self._specs = {at: ignore_spec(read_text_file(at / ".gitignore") or "") for at in folders}

    def __contains__(self, one: Mention) -> bool:
        end = "/" if one.path.endswith("/") else ""
        return any(
            is_ignored(f"{place.end.relative_to(folder).as_posix()}{end}", spec)
            for place in _places(one, self._folders)
            for folder, spec in self._specs.items()
            if place.end.is_relative_to(folder)
        )


def _nearest(path: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Give the paths that may be meant: of the same name elsewhere, else of a name like it."""
    wanted = path.rstrip("/").rpartition("/")[2]
    same = [name for name in names if name.rstrip("/").rpartition("/")[2] == wanted]
    if not same:
        same = get_close_matches(path.removeprefix("./"), names, MAX_SUGGESTIONS, CLOSE_RATIO)
    return tuple(sorted(same, key=len)[:MAX_SUGGESTIONS])
