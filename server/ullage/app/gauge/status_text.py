"""The status of a session: in words for terminals and editors, and as JSON."""

import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from ullage.app.gauge.due import find_due
from ullage.app.gauge.startup_files import find_unread_startup_files, unread_text
from ullage.app.sessions.load import Loaded
from ullage.app.sessions.session import Session
from ullage.app.sessions.title import name_of, title_of
from ullage.core.change.due import DuePlan
from ullage.core.gauge.gauge import Band, Gauge, Layer, PointSource, UsedSource
from ullage.core.gauge.loss import Loss, measured_text
from ullage.core.gauge.status import HIGH_COMPACTIONS, Risk, Status, last_compaction_ms, rfc3339
from ullage.core.gauge.window import Window, WindowSource
from ullage.core.text.prose import write_age
from ullage.core.transcript.agent_lines import cost_text, limit_text
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Agent, JsonObject
from ullage.core.transcript.limits import Limit, list_current

RULE = "━" * 50
"""The line below a heading."""
_EXPORT_ADVICE = "⚠️  Recommendation: Consider exporting and starting fresh session"
"""docs/design/gauge.md, "Degradation"."""
LABEL_CHARS = 21
ROW_CHARS = 80
DOUBT_NOTE = "uncertain: no agent is told to stop by it, and nothing is compacted by itself"
BAR_CHARS = 40


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
    """Kept free for the answer; compaction starts somewhat before it is touched."""
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


def title_text(loaded: Loaded) -> str:
    """Give the title of a session, without what must not leave it.

    What its messages call so is not looked for: that takes longer than to measure it, and the title
    is only shown to its user.
    """
    return title_of(loaded.session, loaded.secrets.values)


def name_text(loaded: Loaded) -> str:
    """Name a session where it stands among others: title, agent, end of its id."""
    return name_of(loaded.session, loaded.secrets.values)


def status_text(loaded: Loaded) -> str:
    """Write the status, with the source of every figure."""
    context, status = loaded.context, loaded.status
    gauge = status.gauge
    due, limits, figures = due_text(find_due(loaded)), limits_text(loaded), figures_text(loaded)
    lines = [
        "Context Status",
        RULE,
        row("Session", title_text(loaded)),
        row("Agent", f"{loaded.session.agent.name} · {context.header.session_id}"),
        row("Model", context.model or "not named yet"),
        row("Total Tokens", total_text(gauge)),
        *([] if gauge.utilization is None else [row("", bar(gauge.utilization))]),
        row("Used", used_text(gauge)),
        row("Window", window_text(gauge.window)),
        *([row("", DOUBT_NOTE)] if gauge.window.doubt else []),
        row("Reserve", f"{status.reserve_tokens:,} kept for the answer"),
        *([] if gauge.agent_compacts_at is None else [row("Agent Compacts", own_text(gauge))]),
        *([row("Due Now", due)] if due else []),
        row("Next Trigger", trigger_text(status)),
        *([row("Limits", limits)] if limits else []),
        *([row("Cost", figures)] if figures else []),
        row("Compaction Count", str(status.degradation.n_compactions)),
    ]
    if context.compactions:
        lines.append(row("Last Compaction", ago(last_compaction_ms(context))))
    if status.last_loss is not None:
        lines.append(row("Last Compaction", measured_text(status.last_loss)))
    if unread := find_unread_startup_files(context):
        lines.append(
            row("Startup Files", unread_text(unread, local_time(last_compaction_ms(context))))
        )
    lines.append(row("Degradation Risk", status.degradation.risk.capitalize()))
    if context.problems:
        n = len(context.problems)
        first = min(context.problems, key=lambda problem: problem.offset)
        lines.append(
            row("Unreadable Lines", f"{n}, the first at byte {first.offset:,}: {first.message}")
        )
    if status.degradation.n_compactions >= HIGH_COMPACTIONS:
        save = loaded.session.fresh_start().save
        lines += ["", _EXPORT_ADVICE, f"   Run: {save}", "", status.degradation.recommendation]
    return "\n".join(lines)


def total_text(gauge: Gauge) -> str:
    if gauge.used_tokens is None or gauge.utilization is None:
        return f"unknown / {gauge.window.n_tokens:,}"
    return f"{gauge.used_tokens:,} / {gauge.window.n_tokens:,} ({gauge.utilization:.1%})"


def window_text(window: Window) -> str:
    """Say how large the window is and who says so."""
    if window.source == "disproved":
        return f"{window.n_tokens:,}, as {window.detail}"
    return f"{window.n_tokens:,} by {window.source} ({window.detail})"


def used_text(gauge: Gauge) -> str:
    """Say where the figure of the used tokens comes from."""
    counted = f"{gauge.n_counted:,} counted"
    match gauge.used_source:
        case "reported":
            base = f"{gauge.n_reported:,} reported by the provider"
            return f"{base} + {counted} since" if gauge.n_counted else base
        case "estimated":
            return " + ".join(_estimated_parts(gauge))
        case "counted":
            return f"{counted} by tokenizer; system prompt and tools not included"
        case "unknown":
            return "unknown until the next answer"


def own_text(gauge: Gauge) -> str:
    """Say where the agent compacts by itself, and who says so."""
    point = gauge.agent_compacts_at
    if point is None:
        return "never by itself, as far as is known"
    distance = "" if gauge.used_tokens is None else _distance(point.at_tokens - gauge.used_tokens)
    return f"by itself at {point.at_tokens:,}{distance} ({point.detail})"


def limits_of(loaded: Loaded) -> tuple[Limit, ...]:
    """List the limits that hold still: as the transcript has them, else as the agent told them."""
    limits = loaded.context.limits or loaded.figures.limits
    return list_current(limits, datetime.now(UTC).timestamp())


def limits_text(loaded: Loaded) -> str:
    """Say how much of the user's plan is used and until when; empty where that is not known."""
    return "; ".join(
        limit_text(limit.n_minutes, limit.used_percent)
        + (f" until {local_time(limit.resets_at_s * 1000)}" if limit.resets_at_s else "")
        for limit in limits_of(loaded)
    )


def short_limits_text(loaded: Loaded) -> str:
    """Write how much of the user's plan is used beside a gauge: `5h 24% · week 41%`."""
    limits = limits_of(loaded)
    return " · ".join(limit_text(limit.n_minutes, limit.used_percent) for limit in limits)


def figures_text(loaded: Loaded) -> str:
    """Say what the session cost, as its agent told it; empty where it did not."""
    figures = loaded.figures
    told: list[str] = []
    if figures.micro_usd is not None:
        told.append(cost_text(figures.micro_usd))
    if figures.cache_percent is not None:
        told.append(f"{figures.cache_percent}% of what was sent from the cache")
    return ", ".join(told) + " by the agent" if told else ""


def _distance(n_tokens: int) -> str:
    return f", in {n_tokens:,} tokens" if n_tokens > 0 else ", which is reached"


def _estimated_parts(gauge: Gauge) -> Iterator[str]:
    if gauge.n_noted:
        yield f"{gauge.n_noted:,} noted by the last compaction or prune"
    if gauge.n_counted:
        yield f"{gauge.n_counted:,} counted{' since' if gauge.n_noted else ''}"
    if gauge.n_outside:
        yield f"about {gauge.n_outside:,} of system prompt and tools"


def due_text(due: DuePlan) -> str:
    """Say what is due now, and what it frees or why it frees nothing; empty where nothing is."""
    parts = ["save a checkpoint"] if due.is_checkpoint_due else []
    match due.change:
        case "prune":
            parts.append(f"prune old tool output (frees {due.n_freed:,} tokens)")
        case "summarize":
            parts.append(f"summarize older messages (frees some {due.n_freed:,} tokens)")
        case "full":
            parts.append(f"summarize nearly everything (frees some {due.n_freed:,} tokens)")
        case None:
            if due.refusal is not None:
                parts.append(f"nothing{' more' if parts else ''}, as {due.refusal}")
    return "; ".join(parts)


def trigger_text(status: Status) -> str:
    trigger, used = status.next_trigger, status.gauge.used_tokens
    if trigger is None or used is None:
        return "none, all thresholds are passed" if used else "unknown"
    return f"{trigger.text} at {trigger.at_tokens:,}, in {trigger.at_tokens - used:,} tokens"


def row(label: str, value: str) -> str:
    """Write a row; what does not fit into a terminal goes on below its beginning."""
    head = f"{label + ':' if label else '':<{LABEL_CHARS}}"
    return textwrap.fill(
        value,
        ROW_CHARS,
        initial_indent=head,
        subsequent_indent=" " * LABEL_CHARS,
        break_long_words=False,
        break_on_hyphens=False,
    )


def bar(ratio: float, n_chars: int = BAR_CHARS) -> str:
    """Draw a share of the window; a full bar for everything above 1."""
    n_filled = min(n_chars, round(ratio * n_chars))
    return "█" * n_filled + "░" * (n_chars - n_filled)


def local_time(at_ms: int | None) -> str:
    """Write a time for people: of today the hour, of this year the day too, else the date."""
    if at_ms is None:
        return "unknown"
    now = datetime.now().astimezone()
    try:
        at = datetime.fromtimestamp(at_ms / 1000).astimezone()
    except (ValueError, OverflowError, OSError):
        return "unknown"
    if at.date() == now.date():
        return f"{at:%H:%M}"
    return f"{at:%m-%d %H:%M}" if at.year == now.year else f"{at:%Y-%m-%d}"


def ago(at_ms: int | None) -> str:
    """Tell a time relative to now, in the largest whole unit."""
    if at_ms is None:
        return "at an unknown time"
    return write_age(datetime.now(UTC).timestamp() - at_ms / 1000)


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
