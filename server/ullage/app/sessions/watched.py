"""Where something may happen that matters to the sessions of a folder."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from ullage.app.sessions.find import list_session_folders
from ullage.formats.registry import AGENTS
from ullage.store.files.places import Places


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
