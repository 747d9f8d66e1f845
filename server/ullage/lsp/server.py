"""The language server: its features, its commands, and its start."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import BinaryIO, ParamSpec, cast

from lsprotocol import types

from ullage import __version__
from ullage.app.assembly.skill_use import check_skill
from ullage.app.documents.check import Check
from ullage.app.documents.checkpoint_check import check_checkpoint_file, check_config_file
from ullage.app.documents.instructions import check_instructions, check_memory
from ullage.app.documents.kind import DocumentKind
from ullage.app.documents.proposal import check_proposal
from ullage.app.documents.tool_servers import check_tool_servers
from ullage.lsp import protocol
from ullage.lsp.auto.checkpoint import capture_events, write_when_due
from ullage.lsp.auto.consider import consider_session
from ullage.lsp.auto.dream import dream_when_due
from ullage.lsp.auto.offer import offer_last_work
from ullage.lsp.auto.waiting import note_turn_end
from ullage.lsp.client_refresh import refresh_lists, refresh_session, refresh_views
from ullage.lsp.commands import (
    auto,
    change,
    checkpoint,
    choose,
    dream,
    flush,
    memory,
    pin,
    preview,
    review,
)
from ullage.lsp.config import did_change_configuration, on_initialize
from ullage.lsp.documents import sync, virtual_documents, watched_files
from ullage.lsp.documents.code_actions import answer_code_actions
from ullage.lsp.documents.diagnostics import publish_session, pull_diagnostics, recheck_all
from ullage.lsp.documents.hover import answer_hover
from ullage.lsp.documents.lenses import answer_hints, answer_lenses
from ullage.lsp.documents.links import answer_links
from ullage.lsp.documents.preview_sources import answer_definition
from ullage.lsp.documents.symbols import answer_folding, answer_symbols
from ullage.lsp.error_edge import answer_errors
from ullage.lsp.follow import follow
from ullage.lsp.lifecycle import ClientInput, keep_responsive, start_log
from ullage.lsp.memory import close_memories
from ullage.lsp.methods import Handler, Method, command, name_asked, request
from ullage.lsp.state import Reactions, UllageServer
from ullage.lsp.views import gauge, pins, sessions, usage, window
from ullage.lsp.views.memory import (
    answer_workspace_symbols,
    refresh_memory,
    run_memory,
    run_memory_chosen,
    run_memory_search,
)
from ullage.store.documents.previews import remove_old_previews
from ullage.store.files.places import Places, current_places
from ullage.store.files.processes import claim_stdout, exit_with_parent, exit_with_process

P = ParamSpec("P")

SHUTDOWN_S = 2.0
"""Tasks that were cancelled end in milliseconds; chosen."""

FEATURES: tuple[tuple[str, Handler, object | None], ...] = (
    (types.TEXT_DOCUMENT_DID_OPEN, sync.did_open, None),
    (types.TEXT_DOCUMENT_DID_CHANGE, sync.did_change, None),
    (types.TEXT_DOCUMENT_DID_SAVE, sync.did_save, None),
    (types.TEXT_DOCUMENT_DID_CLOSE, sync.did_close, None),
    (types.WORKSPACE_DID_CHANGE_CONFIGURATION, did_change_configuration, None),
    (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, watched_files.did_change_watched_files, None),
    (types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, watched_files.did_change_folders, None),
    (
        types.TEXT_DOCUMENT_CODE_ACTION,
        answer_code_actions,
        types.CodeActionOptions([types.CodeActionKind.QuickFix, types.CodeActionKind.Refactor]),
    ),
    (types.TEXT_DOCUMENT_HOVER, answer_hover, None),
    (types.TEXT_DOCUMENT_DEFINITION, answer_definition, None),
    (types.TEXT_DOCUMENT_INLAY_HINT, answer_hints, None),
    (types.TEXT_DOCUMENT_CODE_LENS, answer_lenses, types.CodeLensOptions(resolve_provider=False)),
    (types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, answer_symbols, None),
    (types.TEXT_DOCUMENT_FOLDING_RANGE, answer_folding, None),
    (types.TEXT_DOCUMENT_DOCUMENT_LINK, answer_links, None),
    (types.WORKSPACE_SYMBOL, answer_workspace_symbols, None),
    (types.WORKSPACE_TEXT_DOCUMENT_CONTENT, virtual_documents.text_document_content, None),
)
COMMANDS: tuple[Method, ...] = (
    command(protocol.AUTO_COMMAND, auto.run_auto, name_asked),
    command(protocol.SNOOZE_COMMAND, auto.run_snooze, name_asked),
    command(protocol.COMPACT_COMMAND, change.run_compact, name_asked),
    command(protocol.PREVIEW_COMMAND, preview.run_preview, name_asked),
    command(protocol.APPLY_COMMAND, preview.run_apply, preview.name_asked),
    command(protocol.REGENERATE_COMMAND, preview.run_regenerate, preview.name_asked),
    command(protocol.DISCARD_COMMAND, preview.run_discard, preview.name_asked),
    command(protocol.PRUNE_COMMAND, change.run_prune, name_asked),
    command(protocol.UNDO_COMMAND, change.run_undo, name_asked),
    command(protocol.REDO_COMMAND, change.run_redo, name_asked),
    command(protocol.CHECKPOINT_COMMAND, checkpoint.run_checkpoint, name_asked),
    # As text it changes nothing: what does is refused in it.
    command(protocol.RESTORE_COMMAND, checkpoint.run_restore, name_asked, writes=False),
    command(protocol.PIN_COMMAND, pin.run_pin, name_asked),
    command(protocol.UNPIN_COMMAND, pin.run_unpin, name_asked),
    command(protocol.FLUSH_COMMAND, flush.run_flush, name_asked),
    command(protocol.ACCEPT_MEMORY_COMMAND, memory.run_accept, None),
    command(protocol.DREAM_COMMAND, dream.run_dream, None),
    command(protocol.REVIEW_MEMORY_COMMAND, review.run_review, None),
    command(protocol.EDIT_MEMORY_ITEM_COMMAND, review.run_edit, None),
    command(protocol.UNDO_REVIEW_COMMAND, review.run_undo_review, None),
    command(protocol.SHOW_COMMAND, virtual_documents.run_show, None, writes=False),
    command(protocol.CHOOSE_COMMAND, choose.run_choose, name_asked, writes=False),
)
REQUESTS: tuple[Method, ...] = (
    request(protocol.STATUS_REQUEST, gauge.run_status, name_asked),
    request(protocol.SESSIONS_REQUEST, sessions.run_sessions, None),
    request(protocol.WINDOW_REQUEST, window.run_window, name_asked),
    request(protocol.HISTORY_REQUEST, gauge.run_history, name_asked),
    request(protocol.USAGE_REQUEST, usage.run_usage, None),
    request(protocol.CHECKPOINTS_REQUEST, sessions.run_checkpoints, name_asked),
    request(protocol.MEMORY_REQUEST, run_memory, None),
    request(protocol.MEMORY_SEARCH_REQUEST, run_memory_search, None),
    request(protocol.MEMORY_CHOSEN_REQUEST, run_memory_chosen, None),
    request(protocol.PREVIEW_REQUEST, preview.make_only, name_asked, writes=True),
    request(protocol.PRUNABLE_REQUEST, window.run_prunable, name_asked),
    request(protocol.PINNABLE_REQUEST, pins.run_pinnable, name_asked),
)
REACTIONS = Reactions(
    to_session=(
        publish_session,
        refresh_session,
        capture_events,
        refresh_memory,
        write_when_due,
        note_turn_end,
        consider_session,
    ),
    to_config=(recheck_all, refresh_views, lambda ls: refresh_lists(ls, "sessions")),
)
"""What an appended line leads to, in this order: a checkpoint takes what was captured before it."""
CHECKS: dict[DocumentKind, Check] = {
    "instructions": check_instructions,
    "skill": check_skill,
    "tools": check_tool_servers,
    "memory": check_memory,
    "config": check_config_file,
    "checkpoint": check_checkpoint_file,
    "preview": check_proposal,
}


def make_server(places: Places) -> UllageServer:
    """Make a server with every feature registered."""
    server = UllageServer("ullage", __version__, places, REACTIONS, CHECKS)
    for method, handler, options in FEATURES:
        _register(server, method, handler, options)
    for method in REQUESTS:
        server.feature(method.name)(method.handler)
    for method in COMMANDS:
        server.command(method.name)(method.handler)
    _register(server, types.INITIALIZE, _on_initialize)
    _register(server, types.INITIALIZED, _on_initialized)
    _register(server, types.SHUTDOWN, shut_down)
    return server


def _register(
    server: UllageServer,
    method: str,
    handler: Callable[P, Awaitable[object]],
    options: object | None = None,
) -> None:
    server.feature(method, options)(answer_errors(handler))


def serve() -> int:
    """Serve one client over standard input and output until it leaves; give the exit code."""
    stdout = claim_stdout()
    start_log()
    server = make_server(current_places())
    keep_responsive()
    exit_with_parent()
    server.start_io(stdin=cast(BinaryIO, ClientInput(sys.stdin.buffer)), stdout=stdout)
    return 0 if server.is_shut_down else 1


async def _on_initialize(ls: UllageServer, params: types.InitializeParams) -> None:
    # The parent is waited for from the start; an editor may also be this very process.
    client = params.process_id
    if client is not None and client not in {os.getpid(), os.getppid()}:
        exit_with_process(client)
    await on_initialize(ls, params)
    if ls.pulls_diagnostics:
        options = types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False)
        _register(ls, types.TEXT_DOCUMENT_DIAGNOSTIC, pull_diagnostics, options)


async def _on_initialized(ls: UllageServer, params: types.InitializedParams) -> None:
    ls.begin(follow, ls)
    ls.begin(gauge.publish_gauges, ls)
    ls.begin(dream_when_due, ls)
    ls.begin(offer_last_work, ls)
    sync.ask_for_typing(ls)
    watched_files.ask_for_changes(ls)
    if ls.may_write:
        await asyncio.to_thread(remove_old_previews, ls.places)


async def shut_down(ls: UllageServer, params: None) -> None:
    ls.is_shut_down = True
    for timer in ls.sessions.considering.values():
        timer.cancel()
    for task in tuple(ls.tasks):
        task.cancel()
    if ls.tasks:
        # One that does not heed it must not keep the client waiting: it ends with the process.
        await asyncio.wait(ls.tasks, timeout=SHUTDOWN_S)
    with suppress(TimeoutError):
        await asyncio.wait_for(close_memories(ls), SHUTDOWN_S)
    await asyncio.to_thread(ls.worker.close)
