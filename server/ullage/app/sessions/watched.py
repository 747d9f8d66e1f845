"""Where something may happen that matters to the sessions of a folder."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import msgspec

from ullage.app.sessions.find import find_files, list_databases, list_session_folders
from ullage.formats.registry import AGENTS
from ullage.store.files.places import Places
from ullage.store.transcript.database import log_of
from ullage.store.transcript.folders import folders_below, list_files


class WatchedFolders(msgspec.Struct, frozen=True, kw_only=True):
    """Folders, whether they exist or not."""

    folders: frozenset[Path]
    trees: frozenset[Path]
    """Those in which the folders below matter too."""


def list_watched_folders(workspaces: Iterable[Path], places: Places) -> WatchedFolders:
    """List where agents keep sessions of some folders, and what they note of those that run."""
    env, home = places.env, places.home
    folders = {folder for cwd in workspaces for folder in list_session_folders(cwd, places)}
    nested = {
        root for info in AGENTS if info.has_nested_folders for root in info.session_roots(env, home)
    }
    trees = folders & nested
    for info in AGENTS:
        folders.update(info.live_folders(env, home))
        for folder, pattern in info.database_patterns(env, home):
            (trees if "/" in pattern else folders).add(folder)
    return WatchedFolders(folders=frozenset(folders - trees), trees=frozenset(trees))


def list_watched_paths(cwd: Path, places: Places) -> Iterator[Path]:
    """List files and folders, there or not: while all are as they were, so are a folder's sessions.

    What lives is written to, or its agent notes it in a file; what is new changes its folder.
    """
    watched = list_watched_folders((cwd,), places)
    for folder in watched.folders:
        yield folder
        yield from list_files(folder)
    for tree in watched.trees:
        yield from chain((tree,), folders_below(tree))
    yield from (file.path for file in find_files(cwd, places))
    for database in list_databases(places):
        yield from (database, log_of(database))
