"""The preview of a compaction: made, shown, applied, made anew, discarded."""

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
    plan_proposed,
)
from ullage.app.summary.write import ModelUse
from ullage.core.change.compaction import Unneeded
from ullage.core.gauge.policy import Layer
from ullage.errors import PreviewRefused
from ullage.lsp.commands.compact import made_outcome
from ullage.lsp.commands.compaction_plan import with_model
from ullage.lsp.commands.outcome import changed, changing, meant, model_for, tell
from ullage.lsp.commands.progress import Reporter, with_progress
from ullage.lsp.convert import uri_of
from ullage.lsp.documents.diagnostics import check_proposals
from ullage.lsp.error_edge import guarded, request
from ullage.lsp.permission import refuse_write
from ullage.lsp.protocol import (
    ApplyArgument,
    Outcome,
    Preview,
    PreviewArgument,
    PreviewResult,
    RegenerateArgument,
    SessionRef,
)
from ullage.lsp.session import load_session
from ullage.lsp.state import UllageServer

CANCELLED = "Preview cancelled."


@request(PreviewArgument)
async def run_preview(ls: UllageServer, argument: PreviewArgument) -> PreviewResult:
    """Make a preview for a client that shows its two files itself."""
    return await _previewed(ls, argument)


@guarded
async def preview_and_show(ls: UllageServer, argument: PreviewArgument) -> PreviewResult:
    """Make a preview, and have a client show it that can show documents."""
    result = await _previewed(ls, argument)
    await _show(ls, result)
    return result


@guarded
async def run_regenerate(ls: UllageServer, argument: RegenerateArgument) -> PreviewResult:
    """Make a preview anew, in the same files; the focus stays if none is named."""
    refuse_write(ls)
    before = await asyncio.to_thread(find_preview, argument.preview, ls.places)
    focus = before.note.focus if argument.focus is None else argument.focus
    loaded = await load_session(ls, before.path)
    result = await _made(ls, str(loaded.path), before.note.layer, focus or None, is_anew=True)
    check_proposals(ls)
    await _show(ls, result)
    return result


@changing
async def run_apply(ls: UllageServer, argument: ApplyArgument) -> Outcome:
    """Make the compaction with the text that the user left above the marker."""
    preview = await asyncio.to_thread(find_preview, argument.preview, ls.places)
    text = ls.documents.texts.get(preview.proposed_path)
    if preview.proposed_path in ls.documents.too_long:
        raise PreviewRefused(
            "the text in the editor is too long for a summary, nothing was applied: shorten it"
        )

    async def planned(report: Reporter) -> Plan | Unneeded:
        loaded = await load_session(ls, preview.path)
        model = await model_for(ls, loaded, report)
        count = ls.worker.count_tokens
        return await plan_proposed(preview, text, ls.config, ls.places, model, count)

    plan = await with_progress(ls, "Compacting", planned)
    if plan is None:
        return Outcome(outcome="cancelled", message="Compaction cancelled; the preview is kept.")
    if isinstance(plan, Unneeded):
        return Outcome(outcome="nothing", message=f"Nothing to do: {plan.reason}")
    made = await asyncio.to_thread(apply_proposed, preview, plan, ls.config, ls.places)
    ls.documents.materials.forget(preview.proposed_path)
    await changed(ls, preview.path, made.loaded.path)
    return made_outcome(plan, made)


@changing
async def run_discard(ls: UllageServer, argument: ApplyArgument) -> Outcome:
    """Remove a preview; the session is as it was."""
    preview = await asyncio.to_thread(find_preview, argument.preview, ls.places)
    texts = ls.documents.texts
    aside = await asyncio.to_thread(discard_preview, preview, ls.places, texts)
    ls.documents.materials.forget(preview.proposed_path)
    kept = "" if aside is None else f" The proposal that you edited is kept: {aside}"
    return Outcome(outcome="done", message=f"Preview discarded; the session is as it was.{kept}")


async def _previewed(ls: UllageServer, argument: PreviewArgument) -> PreviewResult:
    refuse_write(ls)
    return await _made(ls, argument.session, argument.layer, argument.focus)


async def _made(
    ls: UllageServer,
    session: str | None,
    layer: Layer | None,
    focus: str | None,
    *,
    is_anew: bool = False,
) -> PreviewResult:
    loaded = await meant(ls, session)

    async def made(model: ModelUse) -> CompactionPreview | Unneeded:
        return await make_preview(
            loaded,
            layer,
            focus,
            ls.config,
            ls.places,
            model,
            ls.documents.texts,
            is_anew=is_anew,
        )

    found = await with_model(ls, loaded, made)
    if found is None:
        return PreviewResult(preview=None, message=CANCELLED)
    if isinstance(found, Unneeded):
        return PreviewResult(preview=None, message=f"Nothing to do: {found.reason}")
    return PreviewResult(preview=_preview(found), message=_remark(found))


def _remark(found: CompactionPreview) -> str:
    """Say what became of a proposal that the user edited."""
    if found.is_edited:
        return "This is the proposal that you edited. To have another one, regenerate it."
    if found.aside_path is not None:
        return f"The proposal that you edited is kept beside this one: {found.aside_path}"
    return ""


def _preview(found: CompactionPreview) -> Preview:
    note = found.note
    return Preview(
        preview=found.preview_id,
        session=SessionRef(agent=note.agent, sessionId=note.session_id, path=note.path),
        beforePath=str(found.before_path),
        proposedPath=str(found.proposed_path),
        title=found.title,
        tokensBefore=note.n_tokens_before,
        tokensAfter=note.n_tokens_after,
    )


async def _show(ls: UllageServer, result: PreviewResult) -> None:
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
    tell(ls, f"{result.preview.title}: {result.preview.proposedPath}")
