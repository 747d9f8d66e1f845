"""Have the summary of a compaction written that a session's runtime applies itself.

Nothing is written into a transcript. The checkpoint comes first (docs/design/checkpoints.md, "Order
at a compaction").
"""

import asyncio
import time

import msgspec

from ullage.app.change.compact import Request, Summarized, details_of, plan_summary
from ullage.app.checkpoint.write import write_checkpoint
from ullage.app.runtime.progress import PendingSummary, SessionProgress, add_summary, ids_of
from ullage.app.runtime.request import MeasuredRequest, RequestMessages, measure_request
from ullage.app.runtime.session import RuntimeSession, remember_run, save_progress
from ullage.app.sessions.load import Loaded, replace_items
from ullage.app.summary.write import WrittenSummary, model_use
from ullage.core.change.breaker import record_run
from ullage.core.change.compaction import NoCompaction
from ullage.core.transcript.context import Context, ContextItem
from ullage.core.transcript.entries import JsonObject
from ullage.core.transcript.tokens import count_items
from ullage.errors import UllageError


class SummaryRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime says of a compaction beside the messages."""

    compaction: Request
    first_kept: int | None = None
    """Where the runtime cuts; it may be the number of messages."""
    previous_summary: str | None = None
    """Where it is not among the messages."""
    is_split_turn: bool = False


class SummaryToApply(msgspec.Struct, frozen=True, kw_only=True):
    """A compaction as the runtime is to apply it."""

    summary: WrittenSummary
    message: JsonObject
    """That holds it, in the runtime's own shape."""
    first_kept: int
    system_places: tuple[int, ...]
    """The system's messages before the first kept one: they stay, before the summary."""
    details: JsonObject
    n_tokens_before: int
    n_tokens_after: int
    checkpoint_id: str | None
    notes: tuple[str, ...]


class _PlannedSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A summary, what it brings, and what was done before it."""

    summary: Summarized | NoCompaction
    n_before: int
    n_after: int
    checkpoint_id: str | None
    notes: tuple[str, ...]


async def write_summary(
    session: RuntimeSession,
    progress: SessionProgress,
    messages: RequestMessages,
    request: SummaryRequest,
) -> tuple[SummaryToApply | NoCompaction, SessionProgress]:
    """Write a checkpoint and the summary; a model that fails is replaced by our own rules.

    Raises:
        PinRefused: there are pins that cannot be read, so that they would be lost.
    """
    n_added = 0 if request.previous_summary is None else 1
    if request.previous_summary is not None:
        messages = _put_first(session, messages, request.previous_summary)
    measured = await asyncio.to_thread(measure_request, session, progress, messages)
    first_kept = None if request.first_kept is None else request.first_kept + n_added
    planned = await _plan(session, measured, request, first_kept)
    summarized = planned.summary
    if isinstance(summarized, NoCompaction):
        await asyncio.to_thread(save_progress, session, progress, measured.progress)
        return summarized, measured.progress
    summary, conversation = summarized.summary, measured.conversation
    pending = PendingSummary(
        replaced_id=summarized.selection.replaced[n_added].entry_id,
        known_ids=ids_of(measured.loaded.context) | measured.progress.seen.last_ids,
        text=summary.text,
        is_recorded=request.compaction.trigger == "auto",
    )
    after = add_summary(measured.progress, measured.loaded.context, pending, planned.n_after)
    notes = await asyncio.to_thread(save_progress, session, progress, after)
    place = first_kept or conversation.places[summarized.selection.cut.first_kept]
    done = SummaryToApply(
        summary=summary,
        message=session.info.shape.make_summary(summary.text, planned.n_before, _now_ms()),
        first_kept=place - n_added,
        system_places=tuple(at - n_added for at in conversation.system_places(place)),
        details=details_of(summarized, planned.n_before, planned.n_after),
        n_tokens_before=planned.n_before,
        n_tokens_after=planned.n_after,
        checkpoint_id=planned.checkpoint_id,
        notes=(*planned.notes, *notes, *summary.warnings),
    )
    return done, after


async def _plan(
    session: RuntimeSession,
    measured: MeasuredRequest,
    request: SummaryRequest,
    first_kept: int | None,
) -> _PlannedSummary:
    """Write the checkpoint, then the summary, and remember what an automatic one brings."""
    conversation, loaded = measured.conversation, measured.loaded
    checkpoint_id, notes = await asyncio.to_thread(_save_checkpoint, session, measured, request)
    position = None if first_kept is None else conversation.position_of(first_kept)
    summary = await plan_summary(
        replace_items(loaded, conversation.items),
        msgspec.structs.replace(request.compaction, first_kept=position),
        session.config,
        session.places,
        model_use(session.config.model, session.places),
    )
    n_before = _count_used(measured, summary)
    n_after = _count_left(measured, summary, n_before)
    if request.compaction.trigger == "auto":
        # So that no automatic compaction follows another in vain.
        notes += await asyncio.to_thread(
            remember_run,
            session,
            lambda breaker: record_run(
                breaker,
                request.compaction.layer,
                n_before=n_before,
                n_after=n_after,
                n_compactions=measured.progress.n_compactions,
                now_ms=_now_ms(),
            ),
        )
    return _PlannedSummary(
        summary=summary,
        n_before=n_before,
        n_after=n_after,
        checkpoint_id=checkpoint_id,
        notes=(*measured.notes, *notes),
    )


def _put_first(session: RuntimeSession, messages: RequestMessages, summary: str) -> RequestMessages:
    """Put the summary of the compaction before first, as the context has it."""
    message = session.info.shape.make_summary(summary, 0, 0)
    return msgspec.structs.replace(
        messages,
        messages=[message, *messages.messages],
        entry_ids=None if messages.entry_ids is None else ["", *messages.entry_ids],
    )


def _save_checkpoint(
    session: RuntimeSession, measured: MeasuredRequest, request: SummaryRequest
) -> tuple[str | None, tuple[str, ...]]:
    """Write the checkpoint; where the disk does not take it, the session is compacted anyway.

    The runtime's transcript holds everything: an agent that cannot go on is worse.
    """
    try:
        written = write_checkpoint(
            _add_last_request(measured),
            session.config.checkpoint,
            session.places,
            trigger="compaction",
            is_split_turn=request.is_split_turn,
            origin=session.origin,
        )
    except UllageError as error:
        return None, (f"{error}; compacted without a checkpoint",)
    problem = () if written.problem is None else (written.problem,)
    return written.checkpoint.meta.checkpoint_id, problem


def _add_last_request(measured: MeasuredRequest) -> Loaded:
    """Add the messages of the last request that a runtime keeps and so did not send again."""
    loaded, last = measured.loaded, measured.progress.seen.last
    if last is None:
        return loaded
    more = _items_beyond(last, ids_of(loaded.context))
    return replace_items(loaded, (*loaded.context.items, *more))


def _items_beyond(context: Context, ids: frozenset[str]) -> tuple[ContextItem, ...]:
    """Give what follows the last item of those ids; nothing where there is none of them."""
    shared = [at for at, item in enumerate(context.items) if item.entry_id in ids]
    return context.items[shared[-1] + 1 :] if shared else ()


def _count_used(measured: MeasuredRequest, summary: Summarized | NoCompaction) -> int:
    """Give the size of the context by the surest of what is known."""
    gauge, seen = measured.loaded.status.gauge, measured.progress.seen
    if gauge.used_source != "reported" and seen.used_tokens:
        since = _items_beyond(measured.sent, seen.last_ids)
        return seen.used_tokens + count_items(since, measured.loaded.count)
    if gauge.used_tokens is not None:
        return gauge.used_tokens
    return 0 if isinstance(summary, NoCompaction) else summary.selection.n_tokens_before


def _count_left(
    measured: MeasuredRequest, summary: Summarized | NoCompaction, n_before: int
) -> int:
    """Give what is left: all by the metric of `n_before`, of the messages as they are sent.

    Placeholders end with the epoch: what is kept is sent in full again.
    """
    if isinstance(summary, NoCompaction):
        return n_before
    replaced_ids = {item.entry_id for item in summary.selection.replaced}
    n_replaced = count_items(
        (item for item in measured.sent.items if item.entry_id in replaced_ids),
        measured.loaded.count,
    )
    n_back = sum(
        prune.n_freed
        for prune in measured.progress.prunes.items
        if prune.entry_id not in replaced_ids
    )
    return max(0, n_before - n_replaced) + n_back + summary.summary.n_tokens


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
