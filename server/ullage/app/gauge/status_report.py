"""What the reading commands answer as JSON: stable keys, one struct for each output."""

import msgspec

from ullage.app.sessions.load import Loaded
from ullage.app.sessions.session import Session
from ullage.core.gauge.degradation import Risk
from ullage.core.gauge.gauge import UsedSource
from ullage.core.gauge.loss import Loss, measured_text
from ullage.core.gauge.policy import Band
from ullage.core.gauge.status import last_compaction_ms, rfc3339
from ullage.core.gauge.window import WindowSource
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Agent
from ullage.core.transcript.message import JsonObject


class TriggerReport(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    at_tokens: int
    in_tokens: int


class LossReport(msgspec.Struct, frozen=True, kw_only=True):
    """What audits measured of one compaction, or of all that were measured."""

    facts_found: int
    facts_kept: int
    """Held by the summary as it was written."""
    facts_inserted: int
    """Put into it from the transcript."""
    facts_lost: int
    loss_percent: float
    tokens_replaced: int
    summary_tokens: int
    compression_ratio: float | None
    """Tokens replaced by tokens of the summary; 5 or more is the aim."""
    text: str
    """The same in words."""


class StatusReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage context status --json`."""

    agent: Agent
    session_id: str
    path: str
    cwd: str | None
    model: str | None
    used_tokens: int | None
    used_source: UsedSource
    reported_tokens: int
    """What the provider reported, part of `used_tokens`."""
    noted_tokens: int
    """What the last compaction noted of its result, part of `used_tokens`."""
    counted_tokens: int
    """What was counted behind it, part of `used_tokens`."""
    window_tokens: int
    window_source: WindowSource
    window_detail: str
    reserve_tokens: int
    """Kept free for the answer; compaction starts somewhat before it is touched."""
    utilization: float | None
    """0 to 1; above 1 where the context overflows."""
    band: Band
    next_trigger: TriggerReport | None
    compaction_count: int
    last_compaction_at: str | None
    risk: Risk
    information_loss_percent: int
    """An estimate by the number of compactions alone."""
    last_measured_loss: LossReport | None
    """Of the last compaction, where its writer measured it."""
    recommendation: str
    n_entries: int
    n_problems: int
    """Lines that could not be read."""


class ContextReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage context show --json`."""

    messages: list[JsonObject]
    summary: str | None
    entry_ids: list[str]
    """The entries that the messages come from, in order."""


def report_status(loaded: Loaded) -> StatusReport:
    context, status = loaded.context, loaded.status
    gauge, trigger = status.gauge, status.next_trigger
    used = gauge.used_tokens
    return StatusReport(
        agent=context.header.known_agent,
        session_id=context.header.session_id,
        path=str(loaded.path),
        cwd=context.header.cwd,
        model=context.model,
        used_tokens=used,
        used_source=gauge.used_source,
        reported_tokens=gauge.n_reported,
        noted_tokens=gauge.n_noted,
        counted_tokens=gauge.n_counted,
        window_tokens=gauge.window.n_tokens,
        window_source=gauge.window.source,
        window_detail=gauge.window.detail,
        reserve_tokens=status.reserve_tokens,
        utilization=None if gauge.utilization is None else round(gauge.utilization, 6),
        band=status.band,
        next_trigger=None
        if trigger is None or used is None
        else TriggerReport(
            name=trigger.name, at_tokens=trigger.at_tokens, in_tokens=trigger.at_tokens - used
        ),
        compaction_count=status.degradation.n_compactions,
        last_compaction_at=rfc3339(last_compaction_ms(context)),
        risk=status.degradation.risk,
        information_loss_percent=status.degradation.loss_percent,
        last_measured_loss=report_loss(status.last_loss),
        recommendation=status.degradation.recommendation,
        n_entries=context.n_entries,
        n_problems=len(context.problems),
    )


def report_loss(loss: Loss | None) -> LossReport | None:
    if loss is None:
        return None
    ratio = loss.compression_ratio
    return LossReport(
        facts_found=loss.n_found,
        facts_kept=loss.n_kept,
        facts_inserted=loss.n_inserted,
        facts_lost=loss.n_lost,
        loss_percent=round(100 * loss.loss_ratio, 2),
        tokens_replaced=loss.n_tokens_replaced,
        summary_tokens=loss.n_summary_tokens,
        compression_ratio=None if ratio is None else round(ratio, 2),
        text=measured_text(loss),
    )


def report_context(session: Session, context: Context) -> ContextReport:
    return ContextReport(
        messages=session.format.messages(context),
        summary=None if context.boundary is None else context.boundary.summary,
        entry_ids=[item.entry_id for item in context.items],
    )
