"""`context/prepare` and `context/decline`: what is done before a request to the model."""

import asyncio
from typing import assert_never

from ullage.agent.protocol import (
    AskUser,
    CheckpointWritten,
    CompactNow,
    Decline,
    Declined,
    FlushTurn,
    GaugeReport,
    MemoryFlushed,
    Prepare,
    Prepared,
    Pruned,
    Replacement,
    SystemEvent,
    TakenOrAsked,
    WarnUser,
)
from ullage.agent.sessions import Sessions, call_of
from ullage.app.change.auto import put_off_layer
from ullage.app.checkpoint.write import Written
from ullage.app.memory.flush import Flushed
from ullage.app.runtime import prepare as app
from ullage.core.change.decision import Ask, Compact, Warn
from ullage.core.gauge.gauge import Gauge


async def prepare(sessions: Sessions, params: Prepare) -> Prepared:
    call = call_of(params.messages, params.entry_ids, params.usage, params.compaction_count)
    async with sessions.use(params.session) as opened:
        done = await app.prepare(opened.attached, opened.progress, call)
        opened.progress = done.progress
    actions: list[TakenOrAsked] = [_action(step) for step in done.steps]
    if done.turn.prunes:
        pruned = Pruned(n_outputs=len(done.turn.prunes), n_tokens=done.turn.n_freed)
        actions.insert(0, pruned)
    return Prepared(
        replacements=[
            Replacement(index=at, message=native) for at, native in sorted(done.natives.items())
        ],
        gauge=_gauge(done.gauge),
        gauge_line=done.line,
        system_events=[_event(told) for told in done.told],
        actions=actions,
        notes=list(done.notes),
    )


async def decline(sessions: Sessions, params: Decline) -> Declined:
    async with sessions.use(params.session) as opened:
        progress = opened.progress
        if not opened.attached.runtime.is_read_only:
            await asyncio.to_thread(
                put_off_layer,
                opened.attached.session,
                params.layer,
                used_tokens=progress.used_tokens or 0,
                window_tokens=opened.attached.runtime.window_tokens,
                n_compactions=progress.n_compactions,
                places=opened.attached.places,
            )
    return Declined()


def _gauge(gauge: Gauge) -> GaugeReport:
    return GaugeReport(
        used_tokens=gauge.used_tokens,
        window_tokens=gauge.window.n_tokens,
        source=gauge.used_source,
        window_source=gauge.window.source,
        ratio=None if gauge.utilization is None else round(gauge.utilization, 6),
    )


def _event(told: app.Told) -> SystemEvent:
    match told:
        case app.Restored():
            return SystemEvent(kind="checkpointRestore", text=told.text)
        case app.Advice():
            return SystemEvent(kind="advice", text=told.text)
        case app.Warned():
            return SystemEvent(kind="warning", text=told.text)
        case _:
            assert_never(told)


def _action(step: app.Step) -> TakenOrAsked:
    match step:
        case Written():
            checkpoint_id = step.checkpoint.meta.checkpoint_id
            return CheckpointWritten(checkpoint_id=checkpoint_id, path=str(step.path))
        case Flushed():
            path = None if step.log_path is None else str(step.log_path)
            return MemoryFlushed(path=path, by=step.by)
        case app.FlushTurn():
            return FlushTurn(
                prompt=step.prompt,
                system_prompt=step.system_prompt,
                log_path=str(step.log_path),
            )
        case Compact():
            return CompactNow(layer=step.layer, reason=step.reason, advice=step.advice)
        case Ask():
            return AskUser(layer=step.layer, reason=step.reason, advice=step.advice)
        case Warn():
            return WarnUser(reason=step.reason)
        case _:
            assert_never(step)
