"""Automatic compaction of a session: its switch, what is due, and what came of it."""

import asyncio
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Literal

import msgspec

from ullage.app.change.compact import Plan, Request, compact, with_flush
from ullage.app.change.make import ChangeResult, change_target
from ullage.app.change.prepared import plan_with_prepared
from ullage.app.change.prune import NothingToPrune, PruneRequest, PruningPlan, plan_pruning, prune
from ullage.app.gauge.due import find_due
from ullage.app.sessions.load import Loaded
from ullage.app.sessions.session import Session
from ullage.app.summary.write import ModelUse
from ullage.core.change.breaker import (
    Breaker,
    is_tripped,
    put_off,
    record_failure,
    record_run,
    record_warning,
)
from ullage.core.change.compaction import NoCompaction
from ullage.core.change.decision import Warn
from ullage.core.change.due import DuePlan
from ullage.core.config.settings import Config
from ullage.core.gauge.gauge import Layer
from ullage.core.transcript.context import Context
from ullage.errors import SessionLive, StateBusy, StorageError
from ullage.store.change.session_lock import changed_meanwhile
from ullage.store.files.places import Places
from ullage.store.state import auto_state


class AutoReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage autocompact status --json`."""

    session_id: str
    path: str
    enabled: bool
    set_by: Literal["session", "configuration"]
    asks_first: bool
    compaction_count: int
    max_auto_compactions: int
    paused: bool
    """Whether runs in a row failed or freed next to nothing."""
    waits_for: Layer | None
    """The layer that was declined, undone or in vain last; stronger ones do not wait."""
    waits_until_tokens: int | None


class AutoPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is due now, worked out to the last byte."""

    due: DuePlan
    plan: Plan | PruningPlan | None
    """The one change that does it; None where nothing is done."""


def switch(session: Session, *, is_on: bool, places: Places) -> None:
    """Turn automatic compaction of a session on or off; turning it on forgets past failures.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
        StorageError: the state folder does not take it.
    """
    change_target(session)

    def switched(state: auto_state.AutoState) -> auto_state.AutoState:
        breaker = Breaker() if is_on else state.breaker
        return msgspec.structs.replace(state, is_on=is_on, breaker=breaker)

    auto_state.change_auto_state(session.state_key, switched, places)


def report_auto(loaded: Loaded, places: Places) -> AutoReport:
    session, policy = loaded.session, loaded.policy
    state = auto_state.read_auto_state(session.state_key, places)
    return AutoReport(
        session_id=session.header.session_id,
        path=str(session.path),
        enabled=policy.is_auto_enabled if state.is_on is None else state.is_on,
        set_by="configuration" if state.is_on is None else "session",
        asks_first=policy.notifies_before_auto,
        compaction_count=len(loaded.context.compactions),
        max_auto_compactions=policy.max_auto_compactions,
        paused=is_tripped(state.breaker, _now_ms()),
        waits_for=state.breaker.held_layer,
        waits_until_tokens=state.breaker.held_until_tokens or None,
    )


def auto_text(report: AutoReport, session: Session) -> str:
    """Say in words what happens by itself."""
    turn_on = session.command("autocompact on")
    lines = [
        f"Automatic compaction: {'on' if report.enabled else 'off'} (set by the {report.set_by})",
        f"Compactions so far: {report.compaction_count}, automatic ones up to"
        f" {report.max_auto_compactions}",
    ]
    if report.enabled:
        lines.append("Asks before it compacts" if report.asks_first else "Does not ask")
    if report.waits_for is not None and report.waits_until_tokens is not None:
        lines.append(
            f"Layer {report.waits_for} waits until {report.waits_until_tokens:,} tokens are used:"
            " the last one was declined, undone or freed next to nothing;"
            f" `{turn_on}` ends the wait"
        )
    if report.paused:
        lines.append(
            "Paused: several runs in a row failed or freed next to nothing;"
            f" `{turn_on}` starts anew"
        )
    return "\n".join(lines)


def is_automatic(session: Session, *, is_configured: bool, places: Places) -> bool:
    """Tell whether a session is compacted by itself: by its own switch, else as configured."""
    is_on = auto_state.read_auto_state(session.state_key, places).is_on
    return is_configured if is_on is None else is_on


@contextmanager
def hold_automatic_run(loaded: Loaded, places: Places) -> Generator[None]:
    """Be the only one to do what is due: of several windows one asks a model, and compacts.

    Raises:
        SessionLive: another window does.
        ChangedMeanwhile: the session is not as it was read; another window may be done.
        StateUnwritable: the state folder does not take a lock.
    """
    session = loaded.session
    with ExitStack() as held:
        try:
            held.enter_context(auto_state.automatic_run(session.state_key, places))
        except StateBusy:
            raise SessionLive("another Ullage works on this session by itself") from None
        if not session.lines.is_current():
            raise changed_meanwhile(session.path)
        yield


async def plan_auto(loaded: Loaded, config: Config, places: Places, model: ModelUse) -> AutoPlan:
    """Work out what is due by itself, without writing anything.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
    """
    change_target(loaded.session)
    due = await asyncio.to_thread(find_due, loaded)
    plan = await _plan_change(due, loaded, config, places, model)
    if isinstance(plan, NoCompaction):
        # The summary itself may be what is not worth it.
        due = msgspec.structs.replace(due, change=None, refusal=plan.reason)
        plan = None
    elif isinstance(plan, Plan):
        plan = await with_flush(plan, config, places, model)
    return AutoPlan(due=due, plan=plan)


def remember_idle(due: DuePlan, loaded: Loaded, places: Places) -> None:
    """Remember that nothing was done: a warning is given once, a vain plan is not made again.

    Raises:
        StorageError: the state folder does not take it.
    """
    used = loaded.status.gauge.used_tokens or 0
    if isinstance(due.action, Warn):
        n_compactions = len(loaded.context.compactions)
        auto_state.change_breaker(
            loaded.session.state_key,
            lambda breaker: record_warning(breaker, n_compactions=n_compactions),
            places,
        )
    elif due.layer is not None:
        _remember_run(loaded.session, loaded.context, due.layer, used, used, places)


def make_auto(plan: Plan | PruningPlan, config: Config, places: Places) -> ChangeResult:
    """Make what is due, and remember how much it brought.

    Raises:
        SessionLive: an agent or another Ullage is using the session; it counts as no failure.
        ChangedMeanwhile: the transcript is not what the plan was made from; nor does this.
        StorageError: the disk does not take it; three failures in a row pause automatic runs.
    """
    try:
        if isinstance(plan, Plan):
            made, layer = compact(plan, config, places), plan.selection.layer
        else:
            made, layer = prune(plan, config, places), "prune"
    except StorageError:
        session = plan.loaded.session
        auto_state.change_breaker(
            session.state_key, lambda breaker: record_failure(breaker, _now_ms()), places
        )
        raise
    _remember_run(
        made.session, made.context, layer, plan.n_tokens_before, plan.n_tokens_after, places
    )
    return made


def _remember_run(
    session: Session,
    context: Context,
    layer: Layer,
    n_before: int,
    n_after: int,
    places: Places,
) -> None:
    auto_state.change_breaker(
        session.state_key,
        lambda breaker: record_run(
            breaker,
            layer,
            n_before=n_before,
            n_after=n_after,
            n_compactions=len(context.compactions),
            now_ms=_now_ms(),
        ),
        places,
    )


def decline(loaded: Loaded, layer: Layer, places: Places) -> None:
    """Remember that the user does not want what was due now, or took it back.

    A full compaction still asks, unless it is what was declined: until then there is room.

    Raises:
        StorageError: the state folder does not take it.
    """
    gauge = loaded.status.gauge
    put_off_layer(
        loaded.session,
        layer,
        used_tokens=gauge.used_tokens or 0,
        window_tokens=gauge.window.n_tokens,
        n_compactions=len(loaded.context.compactions),
        places=places,
    )


def put_off_layer(
    session: Session,
    layer: Layer,
    *,
    used_tokens: int,
    window_tokens: int | None,
    n_compactions: int,
    places: Places,
) -> None:
    """Let a layer that the user declined wait until the context has grown.

    Raises:
        StorageError: the state folder does not take it.
    """
    held: Layer = "full" if layer == "full" else "summarize"
    auto_state.change_breaker(
        session.state_key,
        lambda breaker: put_off(
            breaker,
            held,
            used_tokens=used_tokens,
            window_tokens=window_tokens,
            n_compactions=n_compactions,
        ),
        places,
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


async def _plan_change(
    due: DuePlan, loaded: Loaded, config: Config, places: Places, model: ModelUse
) -> Plan | PruningPlan | NoCompaction | None:
    """Work out the change that is due to the last byte; None where none is."""
    if due.change is None:
        return None
    if due.change == "prune":
        pruning = await asyncio.to_thread(plan_pruning, loaded, PruneRequest())
        is_vain = isinstance(pruning, NothingToPrune)
        return NoCompaction(reason=pruning.reason) if is_vain else pruning
    request = Request(layer=due.change, trigger="auto")
    return await plan_with_prepared(loaded, request, config, places, model)
