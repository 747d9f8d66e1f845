"""The methods of `ullage agent`: from their params to what `app` does, and back to their answers.

`HANDLERS` binds each to the one table of the protocol.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias, assert_never

from msgspec.structs import replace

from ullage.agent import assembly_protocol, memory_protocol, protocol
from ullage.agent.assembly import assemble_request
from ullage.agent.json_rpc import Failure, read_params
from ullage.agent.memory import get_memory, search_memory, store_memory
from ullage.agent.sessions import (
    Sessions,
    close_session,
    offer_session,
    open_session,
    refuse_params,
    resume_session,
)
from ullage.agent.wire import Method, P, R, Wire
from ullage.app.change.auto import put_off_layer
from ullage.app.change.compact import Request
from ullage.app.checkpoint.capture import capture
from ullage.app.checkpoint.write import WrittenCheckpoint
from ullage.app.memory.flush import FlushResult
from ullage.app.runtime.compact import SummaryRequest, SummaryToApply, write_summary
from ullage.app.runtime.prepare import FlushTurn, Step, prepare_request
from ullage.app.runtime.request import (
    CompactFirst,
    GiveUp,
    OverflowAdvice,
    RequestMessages,
    SendAgain,
    advise_on_overflow,
)
from ullage.app.runtime.session import RuntimeSession, read_messages
from ullage.app.sessions.secrets import secrets_for
from ullage.core.change.compaction import NoCompaction
from ullage.core.change.decision import CONTEXT_OVERFLOW, Ask, Compact, Warn
from ullage.core.checkpoint.captured import Event, ToolEvent, events_of
from ullage.core.transcript.entries import JsonObject
from ullage.errors import BadRequest
from ullage.formats.json_line import compact_json

Handler: TypeAlias = Callable[[Sessions, object], Awaitable[Wire]]
"""Takes the params as they came."""


async def note_events(sessions: Sessions, params: protocol.Capture) -> protocol.Captured:
    """Note what happened for the working state, as it happens."""
    async with sessions.use(params.session) as session:
        runtime = session.runtime
        if runtime.info.is_read_only:
            return protocol.Captured(n_events=0)
        return protocol.Captured(n_events=await asyncio.to_thread(_capture, runtime, params))


async def prepare(sessions: Sessions, params: protocol.Prepare) -> protocol.Prepared:
    """Decide what is done before a request to the model."""
    messages = _read_messages(params)
    async with sessions.use(params.session) as session:
        done = await prepare_request(session.runtime, session.progress, messages)
        session.progress = done.progress
    gauge = done.gauge
    actions = [_action_of(step) for step in done.steps]
    if done.plan.prunes:
        n_outputs = len(done.plan.prunes)
        actions.insert(0, protocol.Pruned(n_outputs=n_outputs, n_tokens=done.plan.n_freed))
    return protocol.Prepared(
        replacements=_replacements_of(done.natives),
        gauge=protocol.GaugeReport(
            used_tokens=gauge.used_tokens,
            window_tokens=gauge.window.n_tokens,
            source=gauge.used_source,
            window_source=gauge.window.source,
            ratio=None if gauge.utilization is None else round(gauge.utilization, 6),
        ),
        gauge_line=done.gauge_line,
        system_events=[protocol.SystemEvent(kind=text.kind, text=text.text) for text in done.texts],
        actions=actions,
        notes=list(done.notes),
    )


async def decline(sessions: Sessions, params: protocol.Decline) -> protocol.Declined:
    """Put off a layer that the user does not want."""
    async with sessions.use(params.session) as session:
        runtime, progress = session.runtime, session.progress
        if not runtime.info.is_read_only:
            await asyncio.to_thread(
                put_off_layer,
                runtime.session,
                params.layer,
                used_tokens=progress.seen.used_tokens or 0,
                window_tokens=runtime.info.window_tokens,
                n_compactions=progress.n_compactions,
                places=runtime.places,
            )
    return protocol.Declined()


async def compact(sessions: Sessions, params: protocol.Compact) -> protocol.Compacted:
    """Have a summary written that the runtime applies itself."""
    messages = _read_messages(params)
    request = SummaryRequest(
        compaction=Request(
            layer=params.layer,
            focus=params.custom_instructions or None,
            trigger="manual" if params.reason == "manual" else "auto",
        ),
        first_kept=_first_kept_of(params),
        previous_summary=params.previous_summary or None,
        is_split_turn=params.is_split_turn,
    )
    async with sessions.use(params.session) as session:
        if session.runtime.info.is_read_only:
            raise Failure("read_only", "the session is read-only: only pruning in memory is done")
        done, session.progress = await write_summary(
            session.runtime, session.progress, messages, request
        )
    if isinstance(done, NoCompaction):
        raise Failure("nothing_to_compact", done.reason)
    return _compacted_of(done, params.entry_ids)


async def overflow(sessions: Sessions, params: protocol.Overflow) -> protocol.Overflowed:
    """Decide what to do after the provider refused the context as too large."""
    messages = _read_messages(params)
    async with sessions.use(params.session) as session:
        advice, progress = await asyncio.to_thread(
            advise_on_overflow, session.runtime, session.progress, messages
        )
        await session.save(progress)
    return _overflowed_of(advice)


def _bind(
    method: Method[P, R], answer: Callable[[Sessions, P], Awaitable[R]]
) -> tuple[str, Handler]:
    async def handle(sessions: Sessions, params: object) -> Wire:
        try:
            return await answer(sessions, read_params(params, method.params))
        except BadRequest as error:
            raise refuse_params(str(error)) from None

    return method.name, handle


HANDLERS: dict[str, Handler] = dict(
    [
        _bind(protocol.OPEN, open_session),
        _bind(assembly_protocol.ASSEMBLE, assemble_request),
        _bind(protocol.EVENT, note_events),
        _bind(protocol.PREPARE, prepare),
        _bind(protocol.DECLINE, decline),
        _bind(protocol.COMPACT, compact),
        _bind(protocol.OVERFLOW, overflow),
        _bind(protocol.RESUME, resume_session),
        _bind(protocol.OFFER, offer_session),
        _bind(protocol.CLOSE, close_session),
        _bind(memory_protocol.SEARCH, search_memory),
        _bind(memory_protocol.GET, get_memory),
        _bind(memory_protocol.STORE, store_memory),
    ]
)


def _read_messages(params: protocol.WithMessages) -> RequestMessages:
    """Take the messages of a request together with what is known of them.

    Raises:
        RpcError: the ids are not one for each message, or the usage is of more messages.
    """
    n_messages, ids = len(params.messages), params.entry_ids
    usage = params.usage or protocol.Usage()
    if ids is not None and len(set(ids)) != n_messages:
        raise Failure("bad_messages", "entryIds needs one id for each message, all different")
    if usage.n_messages is not None and usage.n_messages > n_messages:
        message = "usage.nMessages is more than the messages that were sent"
        raise Failure("bad_messages", message)
    return RequestMessages(
        messages=params.messages,
        entry_ids=ids,
        used_tokens=usage.used_tokens,
        n_reported=usage.n_messages,
        window_tokens=usage.window_tokens,
        n_compactions=params.compaction_count,
    )


def _capture(runtime: RuntimeSession, params: protocol.Capture) -> int:
    events = [event for sent in params.events for event in _events_of(runtime, sent)]
    secrets = secrets_for(runtime.session.header, runtime.places)
    capture(runtime.key, events, runtime.places, known_secrets=secrets)
    return len(events)


def _events_of(
    runtime: RuntimeSession, sent: protocol.ToolResult | protocol.NewMessage
) -> list[Event]:
    if isinstance(sent, protocol.NewMessage):
        items = read_messages(runtime, [sent.message])
        return list(events_of(items, range(len(items))))
    arguments = sent.arguments
    return [
        ToolEvent(
            call_id=sent.call_id,
            name=sent.name,
            arguments=arguments if isinstance(arguments, str) else compact_json(arguments or {}),
            is_error=sent.is_error,
            error=sent.error,
            at_ms=sent.at_ms,
        )
    ]


def _action_of(step: Step) -> protocol.TakenOrAsked:
    match step:
        case WrittenCheckpoint():
            checkpoint_id = step.checkpoint.meta.checkpoint_id
            return protocol.CheckpointWritten(checkpoint_id=checkpoint_id, path=str(step.path))
        case FlushResult():
            path = None if step.log_path is None else str(step.log_path)
            return protocol.MemoryFlushed(path=path, by=step.by)
        case FlushTurn():
            return protocol.FlushTurn(
                prompt=step.prompt, system_prompt=step.system_prompt, log_path=str(step.log_path)
            )
        case Compact():
            return protocol.CompactNow(layer=step.layer, reason=step.reason, advice=step.advice)
        case Ask():
            return protocol.AskUser(layer=step.layer, reason=step.reason, advice=step.advice)
        case Warn():
            return protocol.WarnUser(reason=step.reason)
        case _:
            assert_never(step)


def _replacements_of(natives: dict[int, JsonObject]) -> list[protocol.Replacement]:
    return [
        protocol.Replacement(index=at, message=native) for at, native in sorted(natives.items())
    ]


def _first_kept_of(params: protocol.Compact) -> int | None:
    entry_id, at = params.first_kept_entry_id, params.first_kept_index
    if entry_id is not None and at is None:
        ids = params.entry_ids or []
        if entry_id not in ids:
            raise Failure("bad_messages", "firstKeptEntryId is none of entryIds")
        at = ids.index(entry_id)
    if at is not None and not 0 < at <= len(params.messages):
        message = "firstKeptIndex must be from 1 to the number of messages"
        raise Failure("bad_messages", message)
    return at


def _compacted_of(done: SummaryToApply, entry_ids: list[str] | None) -> protocol.Compacted:
    kept_ids = (entry_ids or [])[done.first_kept :]
    loss, ratio = done.summary.loss, done.summary.loss.compression_ratio
    first_kept_id = kept_ids[0] if kept_ids else None
    return protocol.Compacted(
        ok=True,
        compacted=True,
        reason=None,
        result=protocol.CompactionResult(
            summary=done.summary.text,
            first_kept_entry_id=first_kept_id,
            tokens_before=done.n_tokens_before,
            details=done.details,
        ),
        summary=done.summary.text,
        summary_message=done.message,
        first_kept_index=done.first_kept,
        standing_indexes=list(done.system_places),
        first_kept_entry_id=first_kept_id,
        details=done.details,
        tokens_before=done.n_tokens_before,
        tokens_after=done.n_tokens_after,
        author=done.summary.author,
        checkpoint_id=done.checkpoint_id,
        notes=list(done.notes),
        audit=protocol.Audit(
            put_back=loss.put_back,
            left_out=loss.n_left_out,
            compression_ratio=None if ratio is None else round(ratio, 2),
        ),
    )


def _overflowed_of(advice: OverflowAdvice) -> protocol.Overflowed:
    answer = protocol.Overflowed(
        action="fail", message=advice.reason, kind=None, plan=None, replacements=[]
    )
    match advice:
        case CompactFirst():
            selection = advice.selection
            plan = protocol.CompactPlan(
                layer="full",
                first_kept_index=advice.first_kept,
                tokens_before=selection.n_tokens_before,
                tokens_replaced=selection.cut.n_tokens_replaced,
            )
            return replace(answer, action="compact", plan=plan)
        case SendAgain():
            return replace(answer, action="retry", replacements=_replacements_of(advice.natives))
        case GiveUp():
            return replace(answer, kind=CONTEXT_OVERFLOW)
        case _:
            assert_never(advice)
