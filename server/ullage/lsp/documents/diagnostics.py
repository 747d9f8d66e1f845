"""Diagnostics: pushed, or pulled by clients that do so; never both for one client.

A check runs in a thread, on the texts as they were when it began. The newest check of a document
counts: what an earlier one finds after it is thrown away.
"""

import asyncio
import hashlib
from pathlib import Path

from lsprotocol import types

from ullage.app.documents.check import run_check
from ullage.app.documents.kind import DocumentKind
from ullage.app.documents.transcript_check import check_transcript
from ullage.app.gauge.status_text import total_text, trigger_text
from ullage.app.sessions.load import Loaded
from ullage.core.documents.finding import DocumentFinding
from ullage.core.gauge.gauge import Band
from ullage.lsp.client_refresh import refresh_diagnostics, refresh_views
from ullage.lsp.convert import SOURCE, diagnostic_of, line_range, path_of
from ullage.lsp.state import SessionChange, UllageServer

TYPING_DELAY_S = 0.3
"""How long typing must pause before a document is checked (chosen)."""
DEPENDENTS: tuple[DocumentKind, ...] = ("instructions", "memory", "checkpoint")
"""What other files have a say in: duplicates, budgets that are shared, chains."""
UTILIZATION_CODE = "context-utilization"
MARKED_CHARS = 120
"""How much of the first line is underlined; a shorter one is to its end (LSP 3.18, Position)."""
_SEVERITIES: dict[Band, types.DiagnosticSeverity] = {
    "notice": types.DiagnosticSeverity.Information,
    "warning": types.DiagnosticSeverity.Warning,
    "critical": types.DiagnosticSeverity.Error,
}


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
    ls.documents.checks[path] = ls.begin(_check_later, ls, path, kind, delay_s)


def check_dependents(ls: UllageServer, changed: Path) -> None:
    """Check the open documents whose findings may depend on another one that changed."""
    for path in ls.documents.small_uris:
        kind = ls.kind_of(path)
        if path != changed and kind in DEPENDENTS:
            check_soon(ls, path, kind)


def check_proposals(ls: UllageServer) -> None:
    """Check the open proposals again: a session went on, or was compacted."""
    for path in ls.documents.small_uris:
        if ls.kind_of(path) == "preview":
            check_soon(ls, path, "preview")
            refresh_diagnostics(ls)


def recheck_all(ls: UllageServer) -> None:
    """Check everything that is open again: what is configured has changed."""
    for path in ls.documents.small_uris:
        check_soon(ls, path, ls.kind_of(path))
    for path in ls.documents.open_uris:
        _publish(ls, path)
    refresh_diagnostics(ls)


async def publish_session(ls: UllageServer, change: SessionChange) -> None:
    publish_transcript(ls, change.path)


def publish_transcript(ls: UllageServer, path: Path) -> None:
    """Publish what is known of a transcript: its diagnostics, and the gauge if it shows it."""
    if path in ls.documents.open_uris:
        _check_transcript(ls, path)
        _publish(ls, path)
    check_proposals(ls)
    if path in (ls.gauge_path(), ls.sessions.shown):
        ls.show_gauge()


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


async def pull_diagnostics(
    ls: UllageServer, params: types.DocumentDiagnosticParams
) -> types.DocumentDiagnosticReport:
    path = path_of(params.text_document.uri)
    diagnostics: list[types.Diagnostic] = []
    if path is not None:
        kind = ls.kind_of(path)
        if kind is not None:
            _keep(ls, path, kind, await _check(ls, path, kind))
            diagnostics = _diagnostics(ls, path)
        if ls.documents.open_uri(path) is None:
            ls.documents.findings.pop(path, None)
    digest = hashlib.sha256(repr(diagnostics).encode("utf-8", "replace"))
    result_id = digest.hexdigest()[:16]
    if result_id == params.previous_result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
    return types.RelatedFullDocumentDiagnosticReport(items=diagnostics, result_id=result_id)


def _check_transcript(ls: UllageServer, path: Path) -> None:
    """Look at the lines of an open transcript that may have changed."""
    if path not in ls.sessions.followed:
        ls.documents.findings.pop(path, None)
        ls.documents.checked.pop(path, None)
        return
    if ls.pulls_diagnostics:
        return
    if path not in ls.documents.checks or ls.documents.checks[path].done():
        ls.documents.checks[path] = ls.begin(_check_later, ls, path, "transcript", TYPING_DELAY_S)


async def _check_later(ls: UllageServer, path: Path, kind: DocumentKind, delay_s: float) -> None:
    await asyncio.sleep(delay_s)
    findings = await _check(ls, path, kind)
    if ls.documents.open_uri(path) is not None and (
        ls.documents.findings.get(path) != findings or kind != "transcript"
    ):
        _keep(ls, path, kind, findings)
        _publish(ls, path)


async def _check(ls: UllageServer, path: Path, kind: DocumentKind) -> tuple[DocumentFinding, ...]:
    around = ls.surroundings()
    if kind != "transcript":
        check = ls.checks.get(kind)
        return () if check is None else await asyncio.to_thread(run_check, check, path, around)
    # One after the other: a client may pull again and again while a large one is examined.
    async with ls.check_locks[path]:
        before = ls.documents.checked.get(path)
        checked = await asyncio.to_thread(check_transcript, path, around, before)
        if checked is not None and path in ls.documents.open_uris:
            ls.documents.checked[path] = checked
    return () if checked is None else checked.findings


def _keep(
    ls: UllageServer, path: Path, kind: DocumentKind, findings: tuple[DocumentFinding, ...]
) -> None:
    if kind == "preview" and ls.documents.findings.get(path, findings) != findings:
        # Its lens counts what is kept, and an editor may not ask for it again by itself.
        refresh_views(ls)
    ls.documents.findings[path] = findings


def _publish(ls: UllageServer, path: Path) -> None:
    """Show what is known of an open document, and have a client that pulls ask for it."""
    uri = ls.documents.open_uri(path)
    if uri is None:
        return
    if ls.pulls_diagnostics:
        refresh_diagnostics(ls)
        return
    ls.text_document_publish_diagnostics(
        types.PublishDiagnosticsParams(uri=uri, diagnostics=_diagnostics(ls, path))
    )


def _diagnostics(ls: UllageServer, path: Path) -> list[types.Diagnostic]:
    off = ls.config.diagnostics.off
    followed = ls.sessions.followed.get(path)
    of_gauge = [] if followed is None else utilization(followed.loaded)
    uris = ls.documents.open_uris | ls.documents.small_uris
    of_text = [diagnostic_of(finding, uris) for finding in ls.documents.findings.get(path, ())]
    return [diagnostic for diagnostic in (*of_gauge, *of_text) if diagnostic.code not in off]


def utilization(loaded: Loaded) -> list[types.Diagnostic]:
    """Give the finding on how full the context is, once it is worth a line."""
    status, gauge = loaded.status, loaded.status.gauge
    severity = _SEVERITIES.get(status.band)
    if severity is None:
        return []
    about = "" if gauge.used_source == "reported" else "about "
    if gauge.window.doubt:
        advice = f"But {gauge.window.doubt}."
    elif status.next_trigger is None:
        # What is due, and what that frees, the gauge says: to work it out takes too long here.
        advice = "Prune or compact it now."
    else:
        advice = f"Next: {trigger_text(status)}."
    return [
        types.Diagnostic(
            range=line_range(0, MARKED_CHARS),
            severity=severity,
            code=UTILIZATION_CODE,
            source=SOURCE,
            message=f"Context is {about}{gauge.utilization or 0:.0%} full:"
            f" {total_text(gauge)} tokens. {advice}",
        )
    ]
