"""Findings on paths that an instruction file names and that are not there."""

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from ullage.app.document_check import Surroundings
from ullage.core.document_finding import DocumentFinding, TextFix
from ullage.core.mentioned_paths import PASSING_FOLDERS, Mention, ignored_names, mentions
from ullage.core.positions import Positions
from ullage.store.text_files import exists, list_names, read_text_file

CLOSE_RATIO = 0.8
"""Of a name to one that is there, as difflib measures it (chosen)."""
MAX_SUGGESTIONS = 3


def dead_paths(path: Path, text: str, around: Surroundings) -> Iterator[DocumentFinding]:
    """Find the mentioned paths that lead nowhere, from this folder or any above it.

    Outside of a workspace nothing is found: there, paths are relative to whatever is worked on.
    A path that is right from some folder further down is one that an agent finds.
    """
    workspace = around.workspace_of(path)
    if workspace is None:
        return
    folders = [path.parent, *(at for at in path.parents if at.is_relative_to(workspace))]
    missing = [one for one in mentions(text) if not _is_there(one, folders)]
    if not missing:
        return
    ignored = ignored_names(read_text_file(workspace / ".gitignore") or "")
    names = list_names(workspace, PASSING_FOLDERS)
    if names is None:
        return
    tails = {f"/{name.rstrip('/')}" for name in names}
    positions = Positions(text)
    for one in missing:
        wanted = "/" + "/".join(part for part in one.path.split("/") if part not in ("", ".", ".."))
        is_passing = not ignored.isdisjoint(wanted.split("/"))
        if is_passing or any(tail.endswith(wanted) for tail in tails):
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


def _is_there(one: Mention, folders: list[Path]) -> bool:
    return any(exists(folder / one.path) for folder in folders)


def _nearest(path: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Give the paths that may be meant: of the same name elsewhere, else of a name like it."""
    wanted = path.rstrip("/").rpartition("/")[2]
    same = [name for name in names if name.rstrip("/").rpartition("/")[2] == wanted]
    if not same:
        same = get_close_matches(path.removeprefix("./"), names, MAX_SUGGESTIONS, CLOSE_RATIO)
    return tuple(sorted(same, key=len)[:MAX_SUGGESTIONS])
