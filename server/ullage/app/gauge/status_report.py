"""The status of a session, and its context, as JSON."""

import msgspec

from ullage.app.gauge.due import find_due
from ullage.app.gauge.startup_files import find_unread_startup_files
from ullage.app.gauge.status_text import due_text, goes_on_text, limits_of, title_text
from ullage.app.sessions.load import Loaded
from ullage.app.sessions.session import Session
from ullage.core.change.due import DuePlan
from ullage.core.gauge.gauge import Band, Layer, PointSource, UsedSource
from ullage.core.gauge.loss import Loss, measured_text
from ullage.core.gauge.status import Risk, last_compaction_ms, rfc3339
from ullage.core.gauge.window import WindowSource
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Agent, JsonObject


class TriggerReport(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    at_tokens: int
    in_tokens: int


class DueReport(msgspec.Struct, frozen=True, kw_only=True):
    """What is due now; `ullage compact --auto` does it."""

    checkpoint: bool
    layer: Layer | None
    """Null where nothing is due, or may be done."""
    frees_tokens: int | None
    """At least; null where nothing is freed."""
    refusal: str | None
    """Why nothing is freed of what the thresholds ask for."""
    text: str
    """The same in words; empty where nothing is due."""


class CompactionPointReport(msgspec.Struct, frozen=True, kw_only=True):
    """Where the agent compacts the session by itself."""

    tokens: int
    source: PointSource
    detail: str
    """The rule, the setting or the variable that says so."""


class LimitReport(msgspec.Struct, frozen=True, kw_only=True):
    """How much of what the user's plan allows is used."""

    minutes: int
    """How long it is for: 300, 10,080."""
    used_percent: int
    resets_at: str | None


class MeasuredReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured of one compaction, or of all that were measured."""

    put_back: dict[str, int]
    """What the summary lacked as it was written and was put into it, by its kind."""
    left_out: int
    """What it lacks still."""
    asked_again: int
    """Files read and commands failed again though the summary before had them."""
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
    title: str
    """The agent's own, else the gist of the first request."""
    path: str
    cwd: str | None
    goes_on_in: str | None
    """The copy in which it goes on and the command for that, in words; null where it has none."""
    model: str | None
    used_tokens: int | None
    used_source: UsedSource
    reported_tokens: int
    """What the provider reported, part of `used_tokens`."""
    noted_tokens: int
    """What the last compaction noted of its result, part of `used_tokens`."""
    counted_tokens: int
    """What was counted behind it, part of `used_tokens`."""
    outside_tokens: int
    """What is known of the system prompt and the tools by an earlier report, an estimate; part of
    `used_tokens`, and 0 where these are in another part of it."""
    window_tokens: int
    window_source: WindowSource
    window_detail: str
    reserve_tokens: int
    """Kept free for a compaction, which starts somewhat before it is touched."""
    utilization: float | None
    """0 to 1; above 1 where the context overflows."""
    band: Band
    agent_compacts_at: CompactionPointReport | None
    """Null where the agent never does, or is not known to."""
    due: DueReport
    next_trigger: TriggerReport | None
    limits: tuple[LimitReport, ...]
    """Of the user's plan, those that hold still; empty where the agent tells none."""
    cost_usd: float | None
    """Of the session, as its agent told it; null where it did not."""
    cache_percent: int | None
    """Of what the session sent, as its agent told it."""
    compaction_count: int
    last_compaction_at: str | None
    unread_startup_files: tuple[str, ...] | None
    """Files that "Session Startup" of `AGENTS.md` asks for and the agent did not read since the
    last compaction; null where none is asked for, or it has not answered since."""
    risk: Risk
    information_loss_percent: int
    """An estimate by the number of compactions alone."""
    last_measured: MeasuredReport | None
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
    gauge, trigger, figures = status.gauge, status.next_trigger, loaded.figures
    used, point = gauge.used_tokens, gauge.agent_compacts_at
    return StatusReport(
        agent=context.header.known_agent,
        session_id=context.header.session_id,
        title=title_text(loaded),
        path=str(loaded.path),
        cwd=context.header.cwd,
        goes_on_in=goes_on_text(loaded),
        model=context.model,
        used_tokens=used,
        used_source=gauge.used_source,
        reported_tokens=gauge.n_reported,
        noted_tokens=gauge.n_noted,
        counted_tokens=gauge.n_counted,
        outside_tokens=gauge.n_outside,
        window_tokens=gauge.window.n_tokens,
        window_source=gauge.window.source,
        window_detail=gauge.window.detail,
        reserve_tokens=status.reserve_tokens,
        utilization=None if gauge.utilization is None else round(gauge.utilization, 6),
        band=status.band,
        agent_compacts_at=None
        if point is None
        else CompactionPointReport(
            tokens=point.at_tokens, source=point.source, detail=point.detail
        ),
        due=report_due(find_due(loaded)),
        next_trigger=None
        if trigger is None or used is None
        else TriggerReport(
            name=trigger.name, at_tokens=trigger.at_tokens, in_tokens=trigger.at_tokens - used
        ),
        limits=tuple(
            LimitReport(
                minutes=limit.n_minutes,
                used_percent=limit.used_percent,
                resets_at=rfc3339(limit.resets_at_s * 1000 or None),
            )
            for limit in limits_of(loaded)
        ),
        cost_usd=None if figures.micro_usd is None else figures.micro_usd / 1_000_000,
        cache_percent=figures.cache_percent,
        compaction_count=status.degradation.n_compactions,
        last_compaction_at=rfc3339(last_compaction_ms(context)),
        unread_startup_files=find_unread_startup_files(context),
        risk=status.degradation.risk,
        information_loss_percent=status.degradation.loss_percent,
        last_measured=report_measured(status.last_loss),
        recommendation=status.degradation.recommendation,
        n_entries=context.n_entries,
        n_problems=len(context.problems),
    )


def report_due(due: DuePlan) -> DueReport:
    is_made = due.change is not None
    return DueReport(
        checkpoint=due.is_checkpoint_due,
        layer=due.change,
        frees_tokens=due.n_freed if is_made else None,
        refusal=None if is_made else due.refusal,
        text=due_text(due),
    )


def report_measured(loss: Loss | None) -> MeasuredReport | None:
    if loss is None:
        return None
    ratio = loss.compression_ratio
    return MeasuredReport(
        put_back=loss.put_back,
        left_out=loss.n_left_out,
        asked_again=loss.n_asked_again,
        tokens_replaced=loss.n_tokens_replaced,
        summary_tokens=loss.n_summary_tokens,
        compression_ratio=None if ratio is None else round(ratio, 2),
        text=measured_text(loss),
    )


def report_context(session: Session, context: Context) -> ContextReport:
    return ContextReport(
        messages=session.agent.messages(context),
        summary=None if context.boundary is None else context.boundary.summary,
        entry_ids=[item.entry_id for item in context.items],
    )
