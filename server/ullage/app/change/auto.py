"""Automatic compaction of a session: its switch, what is due, and what came of it."""

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import Literal

import msgspec

from ullage.app.change.compact import Plan, Request, compact, plan_compaction, with_flush
from ullage.app.change.make import ChangeResult, changeable
from ullage.app.change.prune import NothingToPrune, PruneRequest, PruningPlan, plan_pruning, prune
from ullage.app.sessions.load import Loaded, load
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
from ullage.core.change.decision import Action, Ask, Cascade, Compact, Prune, Step, Warn, decide
from ullage.core.change.tool_outputs import count_tool_output_tokens
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
    """What is to be done now, and what the decision said."""

    action: Action
    """The first decision: what is due and why, or why nothing is."""
    layer: Layer | None
    """The strongest layer that was worked out; None where nothing was due."""
    plan: Plan | PruningPlan | None
    """The one change that does it; None where nothing is done."""


def switch(session: Session, *, is_on: bool, places: Places) -> None:
    """Turn automatic compaction of a session on or off; turning it on forgets past failures.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
        StorageError: the state folder does not take it.
    """
    changeable(session)

    def switched(state: auto_state.AutoState) -> auto_state.AutoState:
        breaker = Breaker() if is_on else state.breaker
        return msgspec.structs.replace(state, is_on=is_on, breaker=breaker)

    auto_state.change_auto_state(session.state_key, switched, places)


def report_auto(session: Session, config: Config, places: Places) -> AutoReport:
    state = auto_state.read_auto_state(session.state_key, places)
    loaded = load(session, config, places)
    policy = loaded.policy
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


def auto_text(report: AutoReport) -> str:
    """Say in words what happens by itself."""
    lines = [
        f"Automatic compaction: {'on' if report.enabled else 'off'} (set by the {report.set_by})",
        f"Compactions so far: {report.compaction_count}, automatic ones up to"
        f" {report.max_auto_compactions}",
    ]
    if report.enabled:
        lines.append("Asks before it compacts" if report.asks_first else "Does not ask")
    if report.waits_for is not None and report.waits_until_tokens is not None:
        lines.append(
            f"Waits with {report.waits_for} until {report.waits_until_tokens:,} tokens are used,"
            " as it was declined, undone or in vain; `ullage autocompact on` starts anew"
        )
    if report.paused:
        lines.append(
            "Paused: several runs in a row failed or freed next to nothing;"
            " `ullage autocompact on` starts anew"
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
            raise SessionLive(f"another Ullage works on {session.path.name} by itself") from None
        if not session.lines.is_current():
            raise changed_meanwhile(session.path)
        yield


async def plan_auto(loaded: Loaded, config: Config, places: Places, model: ModelUse) -> AutoPlan:
    """Work out what is due by itself, without writing anything.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
    """
    state = auto_state.read_auto_state(loaded.session.state_key, places)
    due = await plan_cascade(loaded, state, config, places, model)
    if not isinstance(due.plan, Plan):
        return due
    plan = await with_flush(due.plan, config, places, model)
    return msgspec.structs.replace(due, plan=plan)


def remember_idle(due: AutoPlan, loaded: Loaded, places: Places) -> None:
    """Remember that nothing was done: a warning is given once, a vain plan is not made again.

    Raises:
        StorageError: the state folder does not take it.
    """
    used = loaded.status.gauge.used_tokens or 0
    if isinstance(due.action, Warn):
        n_compactions = len(loaded.context.compactions)
        change_breaker(
            loaded.session,
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
        change_breaker(session, lambda breaker: record_failure(breaker, _now_ms()), places)
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
    change_breaker(
        session,
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
    change_breaker(
        session,
        lambda breaker: put_off(
            breaker,
            held,
            used_tokens=used_tokens,
            window_tokens=window_tokens,
            n_compactions=n_compactions,
        ),
        places,
    )


def change_breaker(
    session: Session, recorded: Callable[[Breaker], Breaker], places: Places
) -> None:
    """Remember something of a session's automatic runs.

    Raises:
        StorageError: the state folder does not take it.
    """

    def changed(state: auto_state.AutoState) -> auto_state.AutoState:
        return msgspec.structs.replace(state, breaker=recorded(state.breaker))

    auto_state.change_auto_state(session.state_key, changed, places)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


async def plan_cascade(
    loaded: Loaded, state: auto_state.AutoState, config: Config, places: Places, model: ModelUse
) -> AutoPlan:
    """Go through the cascade on plans alone, and give the one change that it ends with.

    After each layer the same metric is taken again, from the context as the agent will build it.
    A compaction that follows a prune replaces what the prune would have changed, so that the
    prune itself is not written. Nothing is: the caller asks first where the action says so.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
    """
    changeable(loaded.session)
    now_ms = _now_ms()
    gauge = loaded.status.gauge
    cascade = Cascade(
        occasion="threshold",
        used_tokens=gauge.used_tokens,
        window_tokens=gauge.window.n_tokens,
        window_doubt=gauge.window.doubt,
        tool_tokens=count_tool_output_tokens(loaded.context.items, loaded.count),
        n_compactions=len(loaded.context.compactions),
        breaker=state.breaker,
        started_tokens=gauge.used_tokens,
        is_auto_on=state.is_on,
    )
    first = action = decide(cascade, loaded.policy, now_ms)
    plan: Plan | PruningPlan | None = None
    strongest: Layer | None = None
    while (layer := _layer_of(action)) is not None:
        strongest = layer
        step_plan = await _plan_layer(layer, loaded, config, places, model)
        n_freed = 0
        if not isinstance(step_plan, NoCompaction):
            plan = None if loaded.policy.is_read_only else step_plan
            n_freed = max(0, (cascade.used_tokens or 0) - step_plan.n_tokens_after)
        cascade = msgspec.structs.replace(
            cascade,
            used_tokens=(cascade.used_tokens or 0) - n_freed,
            tried=(*cascade.tried, Step(what=layer, n_freed=n_freed)),
            confirmed_layer="full",
        )
        action = decide(cascade, loaded.policy, now_ms)
    if loaded.policy.is_read_only:
        # What is pruned in memory alone is no change; what is left to say comes after it.
        return AutoPlan(action=action, layer=None, plan=None)
    return AutoPlan(action=first, layer=strongest, plan=plan)


def _layer_of(action: Action) -> Layer | None:
    match action:
        case Prune():
            return "prune"
        case Compact() | Ask():
            return action.layer
        case _:
            return None


async def _plan_layer(
    layer: Layer, loaded: Loaded, config: Config, places: Places, model: ModelUse
) -> Plan | PruningPlan | NoCompaction:
    if layer == "prune":
        pruning = await asyncio.to_thread(plan_pruning, loaded, PruneRequest())
        return (
            NoCompaction(reason=pruning.reason) if isinstance(pruning, NothingToPrune) else pruning
        )
    request = Request(layer=layer, trigger="auto")
    return await plan_compaction(loaded, request, config, places, model)
