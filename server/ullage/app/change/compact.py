"""Compact a session: plan it, show it, make it."""

import asyncio
from typing import Literal

import msgspec

from ullage.app.change import make
from ullage.app.change.prepared_file import PREPARED_FILE
from ullage.app.memory.flush import FlushPlan, PickedPoints, plan_flush_before
from ullage.app.sessions.copy import refuse_second_copy
from ullage.app.sessions.load import Loaded
from ullage.app.summary.pins import carry_pins
from ullage.app.summary.write import ModelUse, SummaryOptions, WrittenSummary, write_summary
from ullage.core.change import compaction
from ullage.core.change.compaction import NoCompaction, Selection
from ullage.core.change.decision import Action, Cascade, Compact, Warn, decide
from ullage.core.change.edit import CompactionEdit, FileChange
from ullage.core.config.settings import Config
from ullage.core.gauge.gauge import DEFAULT_LAYER, Layer
from ullage.core.gauge.loss import audit_details
from ullage.core.secrets.scan import mask
from ullage.core.transcript.entries import JsonObject
from ullage.errors import WriteNotSupported
from ullage.store.files.places import Places


class Request(msgspec.Struct, frozen=True, kw_only=True):
    layer: Layer = DEFAULT_LAYER
    focus: str | None = None
    trigger: Literal["manual", "auto"] = "manual"
    summary: str | None = None
    """The user's own text; None has one written."""
    truncates: bool = False
    """Whether what is replaced goes out of the file as well."""
    written: WrittenSummary | None = None
    """One that was written before, of the same messages; it is taken as it is."""
    first_kept: int | None = None
    """The first message that stays, where its runtime or an earlier plan chose the cut."""


class Summarized(msgspec.Struct, frozen=True, kw_only=True):
    """What a compaction replaces, and what will stand for it."""

    request: Request
    """Without secrets."""
    selection: Selection
    summary: WrittenSummary
    advice: str | None
    """What to tell the user of a session that is compacted over and over."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A compaction that is worked out to the last byte, and not made yet."""

    selection: Selection
    summary: WrittenSummary
    change: make.ChangePlan
    advice: str | None = None
    """What to tell the user of a session that is compacted over and over."""
    flush: FlushPlan | None = None
    """What goes into the daily log before; None where there is no flush."""
    picked: PickedPoints | None = None
    """What of that was picked out before."""

    @property
    def loaded(self) -> Loaded:
        return self.change.loaded

    @property
    def n_tokens_before(self) -> int:
        return self.change.n_tokens_before

    @property
    def n_tokens_after(self) -> int:
        return self.change.n_tokens_after


async def plan_compaction(
    loaded: Loaded, request: Request, config: Config, places: Places, model: ModelUse
) -> Plan | NoCompaction:
    """Work out a compaction without writing anything.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
        AlreadyChanged: it goes on in a new file already.
    """
    target = make.change_target(loaded.session)
    # Before a model is asked.
    refuse_second_copy(loaded.session, places, loaded.known_secrets)
    dialects = target.editor.truncated_dialects
    if request.truncates and loaded.session.header.dialect not in dialects:
        raise WriteNotSupported(
            "only flat files are truncated, this session keeps its lines: leave --truncate out"
        )
    planned = await plan_summary(loaded, request, config, places, model)
    if isinstance(planned, NoCompaction):
        return planned
    return await asyncio.to_thread(_work_out, loaded, planned)


async def plan_summary(
    loaded: Loaded, request: Request, config: Config, places: Places, model: ModelUse
) -> Summarized | NoCompaction:
    """Have the summary of a compaction written, whoever applies it."""
    request = _mask_request(request, loaded.known_secrets)
    action = _decide(loaded, request)
    if isinstance(action, Warn):
        return NoCompaction(reason=action.reason)
    selection = await asyncio.to_thread(select_messages, loaded, request)
    if isinstance(selection, NoCompaction):
        return selection
    wishes = SummaryOptions(
        focus=request.focus,
        pins=carry_pins(loaded.session, config.pins, selection.kept, places, loaded.known_secrets),
        text=request.summary,
    )
    summary = request.written or await write_summary(selection, loaded, model, wishes)
    reason = compaction.refuse_summary(selection, summary.n_tokens, summary.text)
    if reason is not None:
        return NoCompaction(reason=reason)
    advice = action.advice if isinstance(action, Compact) else None
    return Summarized(request=request, selection=selection, summary=summary, advice=advice)


async def with_flush(plan: Plan, config: Config, places: Places, model: ModelUse) -> Plan:
    """Begin a compaction with a flush of memory, where one is due and wanted.

    Apart from `plan_compaction`, as the model is asked once however often that is done.
    """
    flush = await plan_flush_before(plan.loaded, config, places, model, plan.picked)
    return msgspec.structs.replace(plan, flush=flush)


def compact(plan: Plan, config: Config, places: Places) -> make.ChangeResult:
    """Make a planned compaction.

    Raises:
        SessionLive: an agent or another Ullage is using the session.
        ChangedMeanwhile: the transcript is not what the plan was made from.
        StorageError: the disk or the state folder does not take it.
    """
    selection = plan.selection
    made = make.make_change(
        plan.change,
        config,
        places,
        kind="compaction",
        layer=selection.layer,
        replaced=selection.replaced,
        flush=plan.flush,
    )
    PREPARED_FILE.remove(plan.loaded.session.state_key, places)
    return made


def _mask_request(request: Request, secrets: tuple[str, ...]) -> Request:
    """Mask what the user typed: it goes to the model and into the transcript too."""
    focus, summary = request.focus, request.summary
    return msgspec.structs.replace(
        request,
        focus=None if focus is None else mask(focus, secrets),
        summary=None if summary is None else mask(summary, secrets),
    )


def _decide(loaded: Loaded, request: Request) -> Action:
    """Take what was asked for to the one place where it is decided what is done."""
    gauge = loaded.status.gauge
    cascade = Cascade(
        occasion="manual",
        used_tokens=gauge.used_tokens,
        window_tokens=gauge.window.n_tokens,
        tool_tokens=0,
        n_compactions=len(loaded.context.compactions),
        asked_layer=request.layer,
    )
    return decide(cascade, loaded.policy, now_ms=0)


def select_messages(loaded: Loaded, request: Request) -> Selection | NoCompaction:
    """Select what a compaction replaces."""
    gauge = loaded.status.gauge
    if request.first_kept is not None:
        return compaction.select_before(
            loaded.context, gauge, request.layer, request.first_kept, loaded.count
        )
    return compaction.select(loaded.context, gauge, request.layer, loaded.policy, loaded.count)


def _work_out(loaded: Loaded, planned: Summarized) -> Plan:
    target = make.change_target(loaded.session)
    timestamp = make.now_text()
    selection, summary = planned.selection, planned.summary
    truncate = target.editor.truncate if planned.request.truncates else None
    compact_lines = truncate or target.editor.compact

    def render(entry_id: str, n_tokens_before: int, n_tokens_after: int | None) -> FileChange:
        edit = CompactionEdit(
            entry_id=entry_id,
            timestamp=timestamp,
            summary=summary.text,
            first_kept_id=selection.kept[0].entry_id,
            n_tokens_before=n_tokens_before,
            n_tokens_after=n_tokens_after,
            details=details_of(planned, n_tokens_before, n_tokens_after),
        )
        return compact_lines(target.lines, loaded.context, edit)

    change = make.plan_change(loaded, "compaction", render)
    return Plan(selection=selection, summary=summary, change=change, advice=planned.advice)


def details_of(planned: Summarized, n_tokens_before: int, n_tokens_after: int | None) -> JsonObject:
    """Note beside the summary how it came about, and what the audit found.

    The fields are those of docs/design/sessions.md, "Compaction events".
    """
    request, selection, summary = planned.request, planned.selection, planned.summary
    details: JsonObject = {
        "by": "ullage",
        "version": 1,
        "trigger": request.trigger,
        "layer": selection.layer,
        "messagesCompacted": len(selection.replaced),
        "tokensBefore": n_tokens_before,
        "tokensAfter": n_tokens_after,
        "boundaryMessageId": selection.replaced[-1].entry_id,
        "summarizer": summary.author,
    }
    if request.focus:
        details["customInstruction"] = request.focus
    return details | audit_details(summary.loss)
