"""Small files that others change, and the workspace's folders: what is open is checked again.

Clients that let themselves be asked tell of changes. With others, findings follow what is saved
in the editor, and the configuration is watched all the same.
"""

from lsprotocol import types

from ullage.app.documents.kind import DocumentKind
from ullage.lsp.client_refresh import refresh_diagnostics, refresh_lists
from ullage.lsp.config import look_at_config, reload_config
from ullage.lsp.convert import path_of, uri_of
from ullage.lsp.documents.diagnostics import check_dependents, check_soon, recheck_all
from ullage.lsp.documents.sync import list_typed_patterns, register
from ullage.lsp.follow import discover
from ullage.lsp.memory import close_memories
from ullage.lsp.state import ListName, UllageServer

_LISTS: dict[DocumentKind, ListName] = {
    "checkpoint": "checkpoints",
    "instructions": "memory",
    "memory": "memory",
    "inbox": "memory",
}
"""What a client should ask for again when a file of a kind changed."""


def ask_for_changes(ls: UllageServer) -> None:
    """Ask the client to report changes of small files, if it supports that."""
    watching = ls.client_workspace.did_change_watched_files
    if watching is None or not watching.dynamic_registration:
        return
    typed = list_typed_patterns(ls.places)
    patterns: list[types.Pattern | types.RelativePattern] = list(typed)
    if watching.relative_pattern_support:
        # Checkpoints and previews are in no folder of the workspace.
        state = uri_of(ls.places.state_folder)
        patterns += [types.RelativePattern(base_uri=state, pattern=name) for name in typed]
    ls.begin(_ask_for_changes, ls, patterns)


async def _ask_for_changes(
    ls: UllageServer, patterns: list[types.Pattern | types.RelativePattern]
) -> None:
    watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in patterns]
    options = types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
    await register(ls, "ullage-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)


async def did_change_watched_files(
    ls: UllageServer, params: types.DidChangeWatchedFilesParams
) -> None:
    """Check what is open of the files that changed, and what depends on them."""
    for path in {path_of(change.uri) for change in params.changes}:
        kind = None if path is None else ls.kind_of(path)
        if path is None or kind is None:
            continue
        if path in ls.documents.small_uris:
            check_soon(ls, path, kind)
        check_dependents(ls, path)
        if kind == "config":
            await look_at_config(ls)
        if kind in _LISTS:
            refresh_lists(ls, _LISTS[kind])
    if ls.documents.small_uris:
        refresh_diagnostics(ls)


async def did_change_folders(
    ls: UllageServer, params: types.DidChangeWorkspaceFoldersParams
) -> None:
    """Show the sessions of the folders that are there now, as they are configured."""
    del params
    await reload_config(ls)
    await discover(ls)
    ls.look_again()
    await close_memories(ls)
    recheck_all(ls)
    refresh_lists(ls, "sessions", "checkpoints", "memory")
