"""Tell the client what it should ask for again, many changes at once in one message."""

import asyncio
import contextlib
import logging

from lsprotocol.types import TextDocumentContentRefreshParams
from pygls.exceptions import JsonRpcException

from ullage.lsp.protocol import CHANGED_NOTIFICATION, ChangedParams
from ullage.lsp.state import ListName, SessionChange, UllageServer

LISTS_PAUSE_S = 0.25
"""How long changes are gathered: an agent writes several lines at once (chosen)."""
VIEWS_PAUSE_S = 1.0
"""An agent writes many lines a second; nobody reads figures that change more often (chosen)."""
ANSWER_S = 10.0
"""What an editor may take to answer before it is not waited for any more (chosen)."""
FINDINGS_PAUSE_S = 0.3
"""Many documents may be concerned at once (chosen)."""

log = logging.getLogger(__name__)


async def refresh_session(ls: UllageServer, change: SessionChange) -> None:
    """Have the client request again what shows a session that was reread."""
    if change.after is None:
        return
    if ls.client_workspace.text_document_content is not None:
        for uri, document in ls.documents.shown.items():
            if document.path == change.path:
                ls.workspace_text_document_content_refresh(TextDocumentContentRefreshParams(uri))
    refresh_lists(ls, "sessions")
    if change.before is not None and change.path in ls.documents.open_uris:
        refresh_views(ls)


def refresh_lists(ls: UllageServer, *names: ListName) -> None:
    """Say that a list is not what it was; on the event loop only."""
    is_waiting = bool(ls.sessions.changed_lists)
    ls.sessions.changed_lists.update(names)
    if ls.sessions.changed_lists and not is_waiting:
        asyncio.get_running_loop().call_later(LISTS_PAUSE_S, _notify_changed, ls)


def _notify_changed(ls: UllageServer) -> None:
    names = sorted(ls.sessions.changed_lists)
    ls.sessions.changed_lists.clear()
    if not ls.is_shut_down:
        ls.protocol.notify(CHANGED_NOTIFICATION, ChangedParams(what=names))


def refresh_views(ls: UllageServer) -> None:
    """Have lenses and hints asked for again, at once or when the pause since the last time ends."""
    ls.documents.are_views_old = True
    if ls.documents.refreshing_views is None or ls.documents.refreshing_views.done():
        ls.documents.refreshing_views = ls.begin(_refresh_views, ls)


async def _refresh_views(ls: UllageServer) -> None:
    while ls.documents.are_views_old:
        ls.documents.are_views_old = False
        lens, hint = ls.client_workspace.code_lens, ls.client_workspace.inlay_hint
        with contextlib.suppress(JsonRpcException, TimeoutError):
            if lens is not None and lens.refresh_support:
                await asyncio.wait_for(ls.workspace_code_lens_refresh_async(None), ANSWER_S)
            if hint is not None and hint.refresh_support:
                await asyncio.wait_for(ls.workspace_inlay_hint_refresh_async(None), ANSWER_S)
        await asyncio.sleep(VIEWS_PAUSE_S)


def refresh_diagnostics(ls: UllageServer) -> None:
    """Ask a client that pulls diagnostics to do so again; one request is under way at a time."""
    if not ls.pulls_diagnostics:
        return
    if ls.documents.refreshing_findings is None or ls.documents.refreshing_findings.done():
        ls.documents.refreshing_findings = ls.begin(_refresh_diagnostics, ls)


async def _refresh_diagnostics(ls: UllageServer) -> None:
    await asyncio.sleep(FINDINGS_PAUSE_S)
    try:
        await ls.workspace_diagnostic_refresh_async(None)
    except JsonRpcException:
        log.info("the client did not refresh its diagnostics")
