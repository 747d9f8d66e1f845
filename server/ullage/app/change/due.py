"""What is due in a session by the thresholds: the cascade, worked out and not made yet."""

import asyncio
import time

import msgspec

from ullage.app.change.compact import Plan, Request, plan_compaction
from ullage.app.change.make import changeable
from ullage.app.change.prune import PruneRequest, Pruning, Unpruned, plan_pruning
from ullage.app.sessions.load import Loaded
from ullage.app.summary.write import ModelUse
from ullage.core.change.compaction import Unneeded
from ullage.core.change.decision import Action, Ask, Compact, Prune, Situation, Step, decide
from ullage.core.change.tool_outputs import tool_output_tokens
from ullage.core.config.settings import Config
from ullage.core.gauge.policy import Layer
from ullage.store.files.places import Places
from ullage.store.state.auto_state import AutoState


class Due(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done now, and what the decision said."""

    action: Action
    """The first decision: what is due and why, or why nothing is."""
    layer: Layer | None
    """The strongest layer that was worked out; None where nothing was due."""
    plan: Plan | Pruning | None
    """The one change that does it; None where nothing is done."""


async def plan_due(
    loaded: Loaded, state: AutoState, config: Config, places: Places, model: ModelUse
) -> Due:
    """Go through the cascade on plans alone, and give the one change that it ends with.

    After each layer the same metric is taken again, from the context as the agent will build it.
    A compaction that follows a prune replaces what the prune would have changed, so that the
    prune itself is not written. Nothing is: the caller asks first where the action says so.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
    """
    changeable(loaded.session)
    now_ms = time.time_ns() // 1_000_000
    gauge = loaded.status.gauge
    situation = Situation(
        occasion="threshold",
        used_tokens=gauge.used_tokens,
        window_tokens=gauge.window.n_tokens,
        tool_tokens=tool_output_tokens(loaded.context.items, loaded.count),
        n_compactions=len(loaded.context.compactions),
        breaker=state.breaker,
        started_tokens=gauge.used_tokens,
        is_auto_on=state.is_on,
    )
    first = action = decide(situation, loaded.policy, now_ms)
    plan: Plan | Pruning | None = None
    strongest: Layer | None = None
    while (layer := _layer_of(action)) is not None:
        strongest = layer
        found = await _plan_layer(layer, loaded, config, places, model)
        n_freed = 0
        if not isinstance(found, Unneeded):
            plan = None if loaded.policy.is_read_only else found
            n_freed = max(0, (situation.used_tokens or 0) - found.n_tokens_after)
        situation = msgspec.structs.replace(
            situation,
            used_tokens=(situation.used_tokens or 0) - n_freed,
            tried=(*situation.tried, Step(what=layer, n_freed=n_freed)),
            confirmed_layer="full",
        )
        action = decide(situation, loaded.policy, now_ms)
    if loaded.policy.is_read_only:
        # What is pruned in memory alone is no change; what is left to say comes after it.
        return Due(action=action, layer=None, plan=None)
    return Due(action=first, layer=strongest, plan=plan)


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
) -> Plan | Pruning | Unneeded:
    if layer == "prune":
        pruning = await asyncio.to_thread(plan_pruning, loaded, PruneRequest())
        return Unneeded(reason=pruning.reason) if isinstance(pruning, Unpruned) else pruning
    request = Request(layer=layer, trigger="auto")
    return await plan_compaction(loaded, request, config, places, model)
