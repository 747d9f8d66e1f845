"""The language server: its features, its commands, and its start."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import BinaryIO, cast

from lsprotocol import types

from ullage.lsp import session
from ullage.lsp.commands import auto, checkpoint, compact, flush, pin, preview, prune, restore, undo
from ullage.lsp.config import did_change_configuration, on_initialize
from ullage.lsp.documents import (
    code_actions,
    diagnostics,
    folding,
    hints,
    hover,
    lenses,
    links,
    symbols,
    sync,
    virtual_documents,
    watched_files,
)
from ullage.lsp.error_edge import guarded
from ullage.lsp.follow import follow
from ullage.lsp.lifecycle import ClientInput, keep_responsive, start_log
from ullage.lsp.permission import may_write
from ullage.lsp.protocol import (
    APPLY_COMMAND,
    AUTO_COMMAND,
    CHECKPOINT_COMMAND,
    CHECKPOINTS_REQUEST,
    COMPACT_COMMAND,
    DISCARD_COMMAND,
    FLUSH_COMMAND,
    HISTORY_REQUEST,
    MEMORY_REQUEST,
    PIN_COMMAND,
    PREVIEW_COMMAND,
    PREVIEW_REQUEST,
    PRUNABLE_REQUEST,
    PRUNE_COMMAND,
    REGENERATE_COMMAND,
    RESTORE_COMMAND,
    SESSIONS_REQUEST,
    SHOW_COMMAND,
    SNOOZE_COMMAND,
    STATUS_REQUEST,
    UNDO_COMMAND,
    WINDOW_REQUEST,
)
from ullage.lsp.state import UllageServer
from ullage.lsp.views import checkpoints, history, memory, prunable, sessions, window
from ullage.store.documents.previews import remove_old_previews
from ullage.store.files.places import Places, current_places
from ullage.store.files.processes import claim_stdout, exit_with_parent

Handler = Callable[..., Awaitable[object]]

SHUTDOWN_S = 2.0
"""Tasks that were cancelled end in milliseconds; chosen."""

FEATURES: tuple[tuple[str, Handler, object | None], ...] = (
    (types.TEXT_DOCUMENT_DID_OPEN, sync.did_open, None),
    (types.TEXT_DOCUMENT_DID_CHANGE, sync.did_change, None),
    (types.TEXT_DOCUMENT_DID_SAVE, sync.did_save, None),
    (types.TEXT_DOCUMENT_DID_CLOSE, sync.did_close, None),
    (types.WORKSPACE_DID_CHANGE_CONFIGURATION, did_change_configuration, None),
    (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, watched_files.did_change_watched_files, None),
    (
        types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
        watched_files.did_change_workspace_folders,
        None,
    ),
    (
        types.TEXT_DOCUMENT_CODE_ACTION,
        code_actions.code_actions,
        types.CodeActionOptions(
            code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.Refactor]
        ),
    ),
    (types.TEXT_DOCUMENT_HOVER, hover.hover, None),
    (types.TEXT_DOCUMENT_INLAY_HINT, hints.inlay_hints, None),
    (types.TEXT_DOCUMENT_CODE_LENS, lenses.lenses, types.CodeLensOptions(resolve_provider=False)),
    (types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, symbols.symbols, None),
    (types.TEXT_DOCUMENT_FOLDING_RANGE, folding.folding, None),
    (types.TEXT_DOCUMENT_DOCUMENT_LINK, links.links, None),
    (types.WORKSPACE_TEXT_DOCUMENT_CONTENT, virtual_documents.text_document_content, None),
)
COMMANDS: tuple[tuple[str, Handler], ...] = (
    (AUTO_COMMAND, auto.run_auto),
    (SNOOZE_COMMAND, auto.run_snooze),
    (COMPACT_COMMAND, compact.run_compact),
    (PREVIEW_COMMAND, preview.preview_and_show),
    (APPLY_COMMAND, preview.run_apply),
    (REGENERATE_COMMAND, preview.run_regenerate),
    (DISCARD_COMMAND, preview.run_discard),
    (PRUNE_COMMAND, prune.run_prune),
    (UNDO_COMMAND, undo.run_undo),
    (CHECKPOINT_COMMAND, checkpoint.run_checkpoint),
    (RESTORE_COMMAND, restore.run_restore),
    (PIN_COMMAND, pin.run_pin),
    (FLUSH_COMMAND, flush.run_flush),
    (SHOW_COMMAND, virtual_documents.run_show),
)
REQUESTS: tuple[tuple[str, Handler], ...] = (
    (STATUS_REQUEST, session.run_status),
    (SESSIONS_REQUEST, sessions.run_sessions),
    (WINDOW_REQUEST, window.run_window),
    (HISTORY_REQUEST, history.run_history),
    (CHECKPOINTS_REQUEST, checkpoints.run_checkpoints),
    (MEMORY_REQUEST, memory.run_memory),
    (PREVIEW_REQUEST, preview.run_preview),
    (PRUNABLE_REQUEST, prunable.run_prunable),
)


def make_server(places: Places) -> UllageServer:
    """Make a server with every feature registered."""
    server = UllageServer("ullage", version("ullage"), places)
    for method, handler, options in FEATURES:
        server.feature(method, options)(handler)
    for name, handler in COMMANDS:
        server.command(name)(handler)
    for name, handler in REQUESTS:
        server.feature(name)(handler)
    server.feature(types.INITIALIZE)(_on_initialize)
    server.feature(types.INITIALIZED)(_on_initialized)
    server.feature(types.SHUTDOWN)(shut_down)
    return server


def serve() -> int:
    """Serve one client over standard input and output until it leaves; give the exit code."""
    stdout = claim_stdout()
    start_log()
    server = make_server(current_places())
    keep_responsive()
    exit_with_parent(lambda: server.process_id)
    server.start_io(stdin=cast(BinaryIO, ClientInput(sys.stdin.buffer)), stdout=stdout)
    return 0 if server.is_shut_down else 1


@guarded
async def _on_initialize(ls: UllageServer, params: types.InitializeParams) -> None:
    await on_initialize(ls, params)
    if ls.pulls_diagnostics:
        options = types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False)
        ls.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)(diagnostics.pull_diagnostics)


@guarded
async def _on_initialized(ls: UllageServer, params: types.InitializedParams) -> None:
    ls.begin(follow(ls))
    sync.ask_for_typing(ls)
    watched_files.ask_for_changes(ls)
    if may_write(ls):
        await asyncio.to_thread(remove_old_previews, ls.places)


@guarded
async def shut_down(ls: UllageServer, params: None) -> None:
    ls.is_shut_down = True
    for timer in ls.sessions.considering.values():
        timer.cancel()
    for task in tuple(ls.tasks):
        task.cancel()
    if ls.tasks:
        # One that does not heed it must not keep the client waiting: it ends with the process.
        await asyncio.wait(ls.tasks, timeout=SHUTDOWN_S)
    await asyncio.to_thread(ls.worker.close)
