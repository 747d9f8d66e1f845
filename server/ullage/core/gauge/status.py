"""The status of a session: its gauge, what is due, and what its compactions cost it."""

from datetime import UTC, datetime
from typing import Literal, TypeAlias

import msgspec

from ullage.core.config.settings import Policy
from ullage.core.gauge.gauge import Band, Gauge, Trigger, band_of, next_trigger
from ullage.core.gauge.loss import Loss, read_noted_loss
from ullage.core.transcript.context import Context

Risk: TypeAlias = Literal["low", "medium", "high", "critical"]
MEDIUM_COMPACTIONS = 2
HIGH_COMPACTIONS = 3
CRITICAL_COMPACTIONS = 5
DEATH_SPIRAL_COMPACTIONS = 3
LOSS_PERCENT = 10
"""Rough loss of one compaction."""
MAX_LOSS_PERCENT = 90


class FreshStart(msgspec.Struct, frozen=True, kw_only=True):
    """The commands that take a session over into a fresh one; not each agent's can be imported."""

    save: str
    give: str
    short: str
    """Both on one line."""


class Degradation(msgspec.Struct, frozen=True, kw_only=True):
    n_compactions: int
    risk: Risk
    loss_percent: int
    """An estimate by the count alone, 0 to 90."""
    recommendation: str


class Status(msgspec.Struct, frozen=True, kw_only=True):
    context: Context
    gauge: Gauge
    degradation: Degradation
    last_loss: Loss | None
    """The loss that the last compaction recorded."""
    band: Band
    reserve_tokens: int
    next_trigger: Trigger | None
    """None above the last trigger, or where the gauge is unknown."""


def assess(context: Context, gauge: Gauge, policy: Policy, fresh_start: FreshStart) -> Status:
    return Status(
        context=context,
        gauge=gauge,
        degradation=evaluate(len(context.compactions), fresh_start),
        last_loss=None if context.boundary is None else read_noted_loss(context.boundary.details),
        band=band_of(gauge.utilization, policy),
        reserve_tokens=policy.reserve_tokens,
        next_trigger=next_trigger(gauge, policy),
    )


def last_compaction_ms(context: Context) -> int | None:
    """Tell when the session was compacted last; some formats note it in details alone."""
    if not context.compactions:
        return None
    last, boundary = context.compactions[-1], context.boundary
    if last.at_ms is None and boundary is not None and boundary.entry_id == last.entry_id:
        return boundary.at_ms
    return last.at_ms


def rfc3339(at_ms: int | None) -> str | None:
    """Write a time in UTC, to the millisecond; None for none and for what no calendar has."""
    if at_ms is None:
        return None
    try:
        at = datetime.fromtimestamp(at_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def evaluate(n_compactions: int, fresh_start: FreshStart) -> Degradation:
    """Judge a session by how often it was compacted."""
    return Degradation(
        n_compactions=n_compactions,
        risk=_risk(n_compactions),
        loss_percent=min(MAX_LOSS_PERCENT, n_compactions * LOSS_PERCENT),
        recommendation=_recommendation(n_compactions, fresh_start),
    )


def _risk(n_compactions: int) -> Risk:
    if n_compactions >= CRITICAL_COMPACTIONS:
        return "critical"
    if n_compactions >= HIGH_COMPACTIONS:
        return "high"
    return "medium" if n_compactions >= MEDIUM_COMPACTIONS else "low"


def _recommendation(n_compactions: int, fresh_start: FreshStart) -> str:
    if n_compactions >= CRITICAL_COMPACTIONS:
        return (
            f"CRITICAL: {n_compactions} compactions. Context quality significantly degraded.\n"
            "Strongly recommend:\n"
            f"  1. {fresh_start.save}\n"
            "  2. Start fresh session\n"
            f"  3. {fresh_start.give}"
        )
    if n_compactions >= HIGH_COMPACTIONS:
        return (
            f"Session compacted {n_compactions} times. Quality may be degrading.\n"
            f"Consider: {fresh_start.short}"
        )
    return "Context quality is healthy."


def is_death_spiral(n_compactions: int) -> bool:
    """Whether a session is compacted so often that each summary is one of summaries."""
    return n_compactions > DEATH_SPIRAL_COMPACTIONS
