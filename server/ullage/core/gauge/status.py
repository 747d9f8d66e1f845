"""The status of a session, as the command line prints it and editors show it."""

from datetime import UTC, datetime

import msgspec

from ullage.core.gauge.degradation import Degradation, evaluate
from ullage.core.gauge.gauge import Gauge
from ullage.core.gauge.loss import Loss, noted_loss
from ullage.core.gauge.policy import Band, Policy, Trigger, band_of, due_triggers, next_trigger
from ullage.core.transcript.context import Context


class Status(msgspec.Struct, frozen=True, kw_only=True):
    context: Context
    gauge: Gauge
    degradation: Degradation
    last_loss: Loss | None
    """What the last compaction noted of its own loss."""
    band: Band
    reserve_tokens: int
    due: tuple[Trigger, ...]
    """What is due now, the first to come due first."""
    next_trigger: Trigger | None
    """None above the last trigger, or where the gauge is unknown."""


def assess(context: Context, gauge: Gauge, policy: Policy) -> Status:
    used = gauge.used_tokens
    return Status(
        context=context,
        gauge=gauge,
        degradation=evaluate(len(context.compactions)),
        last_loss=None if context.boundary is None else noted_loss(context.boundary.details),
        band=band_of(gauge.utilization, policy),
        reserve_tokens=policy.reserve_tokens,
        due=() if used is None else due_triggers(used, gauge.window.n_tokens, policy),
        next_trigger=None if used is None else next_trigger(used, gauge.window.n_tokens, policy),
    )


def last_compaction_ms(context: Context) -> int | None:
    return context.compactions[-1].at_ms if context.compactions else None


def rfc3339(at_ms: int | None) -> str | None:
    """Write a time in UTC, to the millisecond; None for none and for what no calendar has."""
    if at_ms is None:
        return None
    try:
        at = datetime.fromtimestamp(at_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
