"""The status of a session in words, for terminals and editors."""

import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime

from ullage.app.gauge.due import find_due
from ullage.app.sessions.copy import find_copy, way_to_copy
from ullage.app.sessions.load import Loaded
from ullage.app.sessions.title import name_of, title_of
from ullage.core.change.due import DuePlan
from ullage.core.gauge.gauge import Gauge
from ullage.core.gauge.loss import measured_text
from ullage.core.gauge.status import HIGH_COMPACTIONS, Status, last_compaction_ms
from ullage.core.gauge.window import Window
from ullage.core.secrets.scan import may_hold_named
from ullage.core.text.prose import write_age
from ullage.core.transcript.agent_lines import cost_text, limit_text
from ullage.core.transcript.context import Context
from ullage.core.transcript.limits import Limit, list_current
from ullage.store.files.local_time import local_now, moment_of

RULE = "━" * 50
"""The line below a heading."""
_EXPORT_ADVICE = "⚠️  Recommendation: Consider exporting and starting fresh session"
"""docs/design/gauge.md, "Degradation"."""
LABEL_CHARS = 21
ROW_CHARS = 80
DOUBT_NOTE = "uncertain: no agent is told to stop by it, and nothing is compacted by itself"
BAR_CHARS = 40
NEAR_DAYS = 183
"""Further off, a day without its year is taken for another, as in `ls -l` (chosen)."""


def title_text(loaded: Loaded) -> str:
    """Give the title of a session, without what must not leave it.

    What its messages call so is looked for where the title may hold it: to go through all of them
    takes as long as to measure them.
    """
    index = loaded.reading.index
    title = title_of(loaded.session, loaded.secrets.values, index)
    return title_of(loaded.session, loaded.known_secrets, index) if may_hold_named(title) else title


def name_text(loaded: Loaded) -> str:
    """Name a session where it stands among others: title, agent, end of its id."""
    return name_of(loaded.session, loaded.known_secrets, loaded.reading.index)


def about(loaded: Loaded, message: str) -> str:
    """Say of which session a message is: another may live in the same folder."""
    return f"{message} · {name_text(loaded)}"


def status_text(loaded: Loaded) -> str:
    """Write the status, with the source of every figure."""
    context, status = loaded.context, loaded.status
    gauge = status.gauge
    goes_on = goes_on_text(loaded)
    due, limits, figures = due_text(find_due(loaded)), limits_text(loaded), figures_text(loaded)
    lines = [
        "Context Status",
        RULE,
        row("Session", title_text(loaded)),
        row("Agent", f"{loaded.session.agent.name} · {context.header.session_id}"),
        *([row("Goes On In", goes_on)] if goes_on else []),
        row("Model", context.model or "not named yet"),
        row("Total Tokens", total_text(gauge)),
        *([] if gauge.utilization is None else [row("", bar(gauge.utilization))]),
        row("Used", used_text(gauge)),
        row("Window", window_text(gauge.window)),
        *([row("", DOUBT_NOTE)] if gauge.window.doubt else []),
        row("Reserve", f"{status.reserve_tokens:,} kept free for a compaction"),
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
        lines.append(row("", measured_text(status.last_loss)))
    if unread := _startup_text(context):
        lines.append(row("Startup Files", unread))
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


def _startup_text(context: Context) -> str:
    """Say which files were not read since the last compaction; empty where there was none."""
    if not context.compactions:
        return ""
    from ullage.app.gauge.startup_files import find_unread_startup_files, unread_text

    unread = find_unread_startup_files(context)
    return unread_text(unread, local_time(last_compaction_ms(context))) if unread else ""


def goes_on_text(loaded: Loaded) -> str | None:
    """Name the copy in which a session goes on once the user resumes it; None where it has none."""
    copy = find_copy(loaded.session, loaded.secrets.places)
    return None if copy is None else way_to_copy(copy, loaded.known_secrets)


def total_text(gauge: Gauge) -> str:
    if gauge.used_tokens is None or gauge.utilization is None:
        return f"unknown / {gauge.window.n_tokens:,}"
    mark = "~" if gauge.is_estimated else ""
    return f"{gauge.used_tokens:,} / {gauge.window.n_tokens:,} ({mark}{gauge.utilization:.1%})"


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
        told.append(f"{figures.cache_percent}% from the cache")
    return ", ".join((*told, "as the agent says")) if told else ""


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
    """Write a time for people: of today the hour, of half a year the day too, else the date."""
    at, now = moment_of(at_ms), local_now()
    if at is None:
        return "unknown"
    if at.date() == now.date():
        return f"{at:%H:%M}"
    is_near = abs(now.date() - at.date()).days < NEAR_DAYS
    return f"{at:%m-%d %H:%M}" if is_near else f"{at:%Y-%m-%d}"


def ago(at_ms: int | None) -> str:
    """Tell a time relative to now, in the largest whole unit."""
    if at_ms is None:
        return "at an unknown time"
    return write_age(datetime.now(UTC).timestamp() - at_ms / 1000)
