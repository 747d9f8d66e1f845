"""Diagnostics: pushed, or pulled by clients that do so; never both for one client.

A check runs in a thread, on the texts as they were when it began. The newest check of a document
counts: what an earlier one finds after it is thrown away.
"""

import asyncio
import hashlib
import logging
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ullage.app.documents.check import Check, Surroundings, run_check
from ullage.app.documents.checkpoint_check import check_checkpoint_file
from ullage.app.documents.config_check import check_config_file
from ullage.app.documents.instructions import check_instructions, check_memory
from ullage.app.documents.kind import DocumentKind, document_kind
from ullage.app.documents.proposal import check_proposal
from ullage.app.documents.transcript_check import check_transcript
from ullage.core.documents.finding import DocumentFinding
from ullage.lsp.convert import path_of, utilization
from ullage.lsp.documents.finding import diagnostic
from ullage.lsp.error_edge import guarded, unattended
from ullage.lsp.renewal import views_changed
from ullage.lsp.state import UllageServer

CHECKS: dict[DocumentKind, Check] = {
    "instructions": check_instructions,
    "memory": check_memory,
    "config": check_config_file,
    "checkpoint": check_checkpoint_file,
    "preview": check_proposal,
}
TYPING_DELAY_S = 0.3
"""How long nobody must have typed before a document is checked (chosen)."""
DEPENDENTS: tuple[DocumentKind, ...] = ("instructions", "memory", "checkpoint")
"""What other files have a say in: duplicates, budgets that are shared, chains."""

log = logging.getLogger(__name__)


def surroundings(ls: UllageServer) -> Surroundings:
    return Surroundings(
        config=ls.config,
        places=ls.places,
        workspaces=ls.workspace_folders(),
        texts=dict(ls.documents.texts),
        materials=ls.documents.materials,
    )


def check_soon(
    ls: UllageServer, path: Path, kind: DocumentKind | None, *, delay_s: float = TYPING_DELAY_S
) -> None:
    """Check an open document after a moment; a check that waits already begins anew.

    A client that pulls asks by itself for what it opened or typed in.
    """
    if ls.pulls_diagnostics or kind is None:
        return
    earlier = ls.documents.checks.pop(path, None)
    if earlier is not None:
        earlier.cancel()
    ls.documents.checks[path] = ls.begin(_check_later(ls, path, kind, delay_s))


def check_dependents(ls: UllageServer, changed: Path) -> None:
    """Check the open documents whose findings may depend on another one that changed."""
    folders = ls.workspace_folders()
    for path in ls.documents.small_uris:
        kind = document_kind(path, ls.places, folders)
        if path != changed and kind in DEPENDENTS:
            check_soon(ls, path, kind)


def check_proposals(ls: UllageServer) -> None:
    """Check the open proposals again: a session went on, or was compacted."""
    folders = ls.workspace_folders()
    for path in ls.documents.small_uris:
        kind = document_kind(path, ls.places, folders)
        if kind == "preview":
            check_soon(ls, path, kind)
            refresh_pulled(ls)


def check_followed(ls: UllageServer, path: Path) -> None:
    """Look at the lines of an open transcript that may have changed."""
    if path not in ls.sessions.followed:
        ls.documents.findings.pop(path, None)
        ls.documents.checked.pop(path, None)
        return
    if ls.pulls_diagnostics:
        return
    if path not in ls.documents.checks or ls.documents.checks[path].done():
        ls.documents.checks[path] = ls.begin(_check_later(ls, path, "transcript", TYPING_DELAY_S))


def publish_known(ls: UllageServer, path: Path) -> None:
    """Show what is known of an open document, and have a client that pulls ask for it."""
    uri = ls.documents.open_uri(path)
    if uri is None:
        return
    if ls.pulls_diagnostics:
        refresh_pulled(ls)
        return
    ls.text_document_publish_diagnostics(
        types.PublishDiagnosticsParams(uri=uri, diagnostics=_diagnostics(ls, path))
    )


def forget(ls: UllageServer, path: Path, uri: str) -> None:
    """Clear what was shown at a document that was closed."""
    task = ls.documents.checks.pop(path, None)
    if task is not None:
        task.cancel()
    ls.documents.findings.pop(path, None)
    ls.documents.checked.pop(path, None)
    if not ls.pulls_diagnostics:
        ls.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=[])
        )


def refresh_pulled(ls: UllageServer) -> None:
    """Ask a client that pulls to do so again; one request is under way at a time."""
    if not ls.pulls_diagnostics:
        return
    if ls.documents.refreshing is None or ls.documents.refreshing.done():
        ls.documents.refreshing = ls.begin(_refresh(ls))


def recheck_all(ls: UllageServer) -> None:
    """Check everything that is open again: what is configured has changed."""
    folders = ls.workspace_folders()
    for path in ls.documents.small_uris:
        check_soon(ls, path, document_kind(path, ls.places, folders))
    for path in ls.documents.open_uris:
        publish_known(ls, path)
    refresh_pulled(ls)


@guarded
async def pull_diagnostics(
    ls: UllageServer, params: types.DocumentDiagnosticParams
) -> types.DocumentDiagnosticReport:
    path = path_of(params.text_document.uri)
    found: list[types.Diagnostic] = []
    if path is not None:
        kind = document_kind(path, ls.places, ls.workspace_folders())
        # A session's file may have any name.
        kind = "transcript" if path in ls.sessions.followed else kind
        if kind is not None:
            _keep(ls, path, kind, await _find(ls, path, kind))
            found = _diagnostics(ls, path)
        if ls.documents.open_uri(path) is None:
            ls.documents.findings.pop(path, None)
    result_id = _result_id(found)
    if result_id == params.previous_result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
    return types.RelatedFullDocumentDiagnosticReport(items=found, result_id=result_id)


async def _find(ls: UllageServer, path: Path, kind: DocumentKind) -> tuple[DocumentFinding, ...]:
    around = surroundings(ls)
    if kind == "transcript":
        return await _find_in_transcript(ls, path, around)
    check = CHECKS.get(kind)
    return () if check is None else await asyncio.to_thread(run_check, check, path, around)


async def _find_in_transcript(
    ls: UllageServer, path: Path, around: Surroundings
) -> tuple[DocumentFinding, ...]:
    # One after the other: a client may pull again and again while a large one is examined.
    async with ls.check_lock_of(path):
        before = ls.documents.checked.get(path)
        found = await asyncio.to_thread(check_transcript, path, around, before)
        if found is not None and path in ls.documents.open_uris:
            ls.documents.checked[path] = found
    return () if found is None else found.findings


@unattended
async def _check_later(ls: UllageServer, path: Path, kind: DocumentKind, delay_s: float) -> None:
    await asyncio.sleep(delay_s)
    found = await _find(ls, path, kind)
    if ls.documents.open_uri(path) is not None and (
        ls.documents.findings.get(path) != found or kind != "transcript"
    ):
        _keep(ls, path, kind, found)
        publish_known(ls, path)


def _keep(
    ls: UllageServer, path: Path, kind: DocumentKind, found: tuple[DocumentFinding, ...]
) -> None:
    if kind == "preview" and ls.documents.findings.get(path, found) != found:
        # Its lens counts what is kept, and an editor may not ask for it again by itself.
        views_changed(ls)
    ls.documents.findings[path] = found


async def _refresh(ls: UllageServer) -> None:
    # Many documents may be concerned at once.
    await asyncio.sleep(TYPING_DELAY_S)
    try:
        await ls.workspace_diagnostic_refresh_async(None)
    except JsonRpcException:
        log.info("the client did not refresh its diagnostics")


def _diagnostics(ls: UllageServer, path: Path) -> list[types.Diagnostic]:
    off = ls.config.diagnostics.off
    followed = ls.sessions.followed.get(path)
    shown = [] if followed is None else utilization(followed.loaded)
    uris = ls.documents.open_uris | ls.documents.small_uris
    known = [diagnostic(finding, uris) for finding in ls.documents.findings.get(path, ())]
    return [one for one in (*shown, *known) if one.code not in off]


def _result_id(found: list[types.Diagnostic]) -> str:
    return hashlib.sha256(repr(found).encode("utf-8", "replace")).hexdigest()[:16]
