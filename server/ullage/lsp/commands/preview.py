"""The preview of a compaction: made, shown, applied, regenerated, discarded."""

import asyncio
from pathlib import Path

from lsprotocol import types

from ullage.app.change.compact import Plan
from ullage.app.change.preview import (
    CompactionPreview,
    apply_proposed,
    discard_preview,
    find_preview,
    make_preview,
    name_previewed,
    plan_proposed,
)
from ullage.app.gauge.status_text import about
from ullage.app.summary.write import ModelUse
from ullage.core.change.compaction import NoCompaction
from ullage.core.gauge.gauge import Layer
from ullage.errors import PreviewRefused
from ullage.lsp import protocol
from ullage.lsp.commands import progress
from ullage.lsp.commands.change import report_made
from ullage.lsp.convert import uri_of
from ullage.lsp.documents.diagnostics import check_proposals
from ullage.lsp.follow import load_session, show_changed
from ullage.lsp.messages import tell
from ullage.lsp.state import UllageServer


async def make_only(ls: UllageServer, argument: protocol.PreviewArgument) -> protocol.PreviewResult:
    """Make a preview for a client that shows its two files itself."""
    return await _make(ls, argument.session, argument.layer, argument.focus)


async def run_preview(
    ls: UllageServer, argument: protocol.PreviewArgument
) -> protocol.PreviewResult:
    """Make a preview, and have a client show it that can show documents."""
    result = await make_only(ls, argument)
    await _show(ls, result)
    return result


async def run_regenerate(
    ls: UllageServer, argument: protocol.RegenerateArgument
) -> protocol.PreviewResult:
    """Regenerate a preview, in the same files; the focus stays if none is named."""
    before = await asyncio.to_thread(find_preview, argument.preview, ls.places)
    note = before.note
    focus = note.focus if argument.focus is None else argument.focus
    result = await _make(ls, str(before.path), note.layer, focus or None, is_anew=True)
    check_proposals(ls)
    await _show(ls, result)
    return result


async def run_apply(ls: UllageServer, argument: protocol.ApplyArgument) -> protocol.Outcome:
    """Make the compaction with the text that the user left above the marker."""
    preview = await asyncio.to_thread(find_preview, argument.preview, ls.places)
    text = ls.documents.texts.get(preview.proposed_path)
    if preview.proposed_path in ls.documents.too_long:
        raise PreviewRefused(
            "the text in the editor is too long for a summary, nothing was applied: shorten it"
        )

    async def plan_with(report: progress.Report) -> Plan | NoCompaction:
        model = await progress.model_for(ls, report)
        count = ls.worker.count_tokens
        return await plan_proposed(preview, text, ls.config, ls.places, model, count)

    plan = await progress.with_progress(ls, "Compacting", plan_with)
    if plan is None:
        message = f"Compaction cancelled, the preview is kept · {preview.note.name}"
        return progress.report_cancelled(message)
    if isinstance(plan, NoCompaction):
        return progress.report_nothing(f"{plan.reason} · {preview.note.name}")
    made = await asyncio.to_thread(apply_proposed, preview, plan, ls.config, ls.places)
    ls.documents.materials.forget(preview.proposed_path)
    await show_changed(ls, preview.path, made.session.path)
    return report_made(ls, plan, made)


async def run_discard(ls: UllageServer, argument: protocol.ApplyArgument) -> protocol.Outcome:
    """Remove a preview; the session is as it was."""
    preview = await asyncio.to_thread(find_preview, argument.preview, ls.places)
    aside = await asyncio.to_thread(discard_preview, preview, ls.places, ls.documents.texts)
    ls.documents.materials.forget(preview.proposed_path)
    kept = "" if aside is None else f". The proposal that you edited is kept: {aside}"
    return protocol.Outcome(
        outcome="done",
        message=f"Preview discarded, the session is as it was · {preview.note.name}{kept}",
    )


async def name_asked(
    ls: UllageServer, argument: protocol.ApplyArgument | protocol.RegenerateArgument
) -> str | None:
    followed = tuple(followed.loaded for followed in ls.sessions.followed.values())
    return await asyncio.to_thread(name_previewed, argument.preview, followed, ls.places)


async def _make(
    ls: UllageServer,
    session: str | None,
    layer: Layer | None,
    focus: str | None,
    *,
    is_anew: bool = False,
) -> protocol.PreviewResult:
    loaded = await load_session(ls, session)

    async def make_with(model: ModelUse) -> CompactionPreview | NoCompaction:
        texts = ls.documents.texts
        return await make_preview(
            loaded, layer, focus, ls.config, ls.places, model, texts, is_anew=is_anew
        )

    preview = await progress.with_model(ls, make_with)
    if preview is None:
        cancelled = about(loaded, "Preview cancelled")
        return protocol.PreviewResult(preview=None, message=cancelled)
    if isinstance(preview, NoCompaction):
        nothing = about(loaded, f"Nothing to do: {preview.reason}")
        return protocol.PreviewResult(preview=None, message=nothing)
    return protocol.PreviewResult(preview=_reference(preview), message=_remark(preview))


def _remark(preview: CompactionPreview) -> str:
    """Say what became of a proposal that the user edited."""
    name, aside = preview.note.name, preview.aside_path
    if preview.is_edited:
        return f"This is the proposal of {name} that you edited. To have another, regenerate it."
    if aside is not None:
        return f"The proposal of {name} that you edited is kept beside this one: {aside}"
    return ""


def _reference(preview: CompactionPreview) -> protocol.Preview:
    note = preview.note
    return protocol.Preview(
        preview=preview.preview_id,
        session=protocol.SessionRef(agent=note.agent, sessionId=note.session_id, path=note.path),
        beforePath=str(preview.before_path),
        proposedPath=str(preview.proposed_path),
        title=preview.title,
        tokensBefore=note.n_tokens_before,
        tokensAfter=note.n_tokens_after,
    )


async def _show(ls: UllageServer, result: protocol.PreviewResult) -> None:
    """Open the proposal, or say where it is, or why there is none."""
    if result.message:
        tell(ls, result.message)
    if result.preview is None:
        return
    if ls.shows_documents:
        uri = uri_of(Path(result.preview.proposedPath))
        params = types.ShowDocumentParams(uri=uri, take_focus=True)
        if (await ls.window_show_document_async(params)).success:
            return
    tell(ls, f"Compaction of {result.preview.title}: {result.preview.proposedPath}")
