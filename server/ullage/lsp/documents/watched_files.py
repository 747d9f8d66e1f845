"""Small files that others change, and the workspace's folders: what is open is checked again.

Clients that let themselves be asked tell of changes. With others, findings follow what is saved
in the editor, and the configuration is looked at every other second all the same.
"""

import logging

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ullage.app.documents.kind import DocumentKind, document_kind
from ullage.lsp.changed import notify_changed
from ullage.lsp.config import look_at_config, reload_config
from ullage.lsp.convert import path_of, uri_of
from ullage.lsp.documents.diagnostics import (
    check_dependents,
    check_soon,
    recheck_all,
    refresh_pulled,
)
from ullage.lsp.documents.sync import TYPED_PATTERNS
from ullage.lsp.error_edge import guarded, unattended
from ullage.lsp.follow import discover
from ullage.lsp.state import UllageServer, What

REGISTRATION_ID = "ullage-files"
_LISTS: dict[DocumentKind, What] = {
    "checkpoint": "checkpoints",
    "instructions": "memory",
    "memory": "memory",
}
"""What a client should ask for anew when a file of a kind changed."""

log = logging.getLogger(__name__)


def ask_for_changes(ls: UllageServer) -> None:
    """Ask the client to tell of changes of small files, if it lets itself be asked."""
    workspace = ls.client_capabilities.workspace
    watching = None if workspace is None else workspace.did_change_watched_files
    if watching is None or not watching.dynamic_registration:
        return
    patterns: list[types.Pattern | types.RelativePattern] = list(TYPED_PATTERNS)
    if watching.relative_pattern_support:
        # Checkpoints and previews are in no folder of the workspace.
        state = uri_of(ls.places.state_folder)
        patterns += [types.RelativePattern(base_uri=state, pattern=one) for one in TYPED_PATTERNS]
    ls.begin(_register(ls, patterns))


@unattended
async def _register(
    ls: UllageServer, patterns: list[types.Pattern | types.RelativePattern]
) -> None:
    options = types.DidChangeWatchedFilesRegistrationOptions(
        watchers=[types.FileSystemWatcher(glob_pattern=one) for one in patterns]
    )
    registration = types.Registration(
        id=REGISTRATION_ID,
        method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        register_options=options,
    )
    try:
        await ls.client_register_capability_async(types.RegistrationParams([registration]))
    except JsonRpcException:
        log.info("the client tells of no files that change: findings follow what is saved")


@guarded
async def did_change_watched_files(
    ls: UllageServer, params: types.DidChangeWatchedFilesParams
) -> None:
    """Check what is open of the files that changed, and what depends on them."""
    folders = ls.workspace_folders()
    for path in {path_of(change.uri) for change in params.changes}:
        kind = None if path is None else document_kind(path, ls.places, folders)
        if path is None or kind is None:
            continue
        if path in ls.documents.small_uris:
            check_soon(ls, path, kind)
        check_dependents(ls, path)
        if kind == "config":
            await look_at_config(ls)
        if kind in _LISTS:
            notify_changed(ls, _LISTS[kind])
    if ls.documents.small_uris:
        refresh_pulled(ls)


@guarded
async def did_change_workspace_folders(
    ls: UllageServer, params: types.DidChangeWorkspaceFoldersParams
) -> None:
    """Show the sessions of the folders that are there now, as they are configured."""
    del params
    await reload_config(ls)
    await discover(ls)
    recheck_all(ls)
    notify_changed(ls, "sessions", "checkpoints", "memory")
