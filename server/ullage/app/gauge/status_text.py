"""The status of a session in words: for a terminal, and for editors to show."""

from datetime import UTC, datetime

from ullage.app.sessions.load import Loaded
from ullage.core.gauge.degradation import HIGH_COMPACTIONS
from ullage.core.gauge.gauge import Gauge
from ullage.core.gauge.loss import measured_text
from ullage.core.gauge.status import Status, last_compaction_ms
from ullage.core.gauge.window import Window
from ullage.core.transcript.entries import Agent

RULE = "━" * 50
"""The line below a heading."""
LABEL_CHARS = 21
BAR_CHARS = 40
AGENT_NAMES: dict[Agent, str] = {
    "openclaw": "pi / OpenClaw",
    "claude-code": "Claude Code",
    "codex": "Codex",
    "opencode": "opencode",
    "gemini": "Gemini CLI",
}
N_ID_CHARS = 8
"""Enough to tell sessions apart."""
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))


def session_title(agent: Agent, session_id: str) -> str:
    """Name a session where it stands among others."""
    return f"{AGENT_NAMES[agent]} · {session_id[:N_ID_CHARS]}"


def status_text(loaded: Loaded) -> str:
    """Write the status, with the source of every figure."""
    context, status = loaded.context, loaded.status
    header, gauge = context.header, status.gauge
    lines = [
        "Context Status",
        RULE,
        row("Session", f"{AGENT_NAMES[header.known_agent]} · {header.session_id}"),
        row("Model", context.model or "not named yet"),
        row("Total Tokens", total_text(gauge)),
        *([] if gauge.utilization is None else [row("", bar(gauge.utilization))]),
        row("Used", used_text(gauge)),
        row("Window", window_text(gauge.window)),
        row("Reserve", f"{status.reserve_tokens:,} kept for the answer"),
        *([row("Due Now", due_text(status))] if status.due else []),
        row("Next Trigger", trigger_text(status)),
        row("Compaction Count", str(status.degradation.n_compactions)),
    ]
    if context.compactions:
        lines.append(row("Last Compaction", ago(last_compaction_ms(context))))
    if status.last_loss is not None:
        lines.append(row("Measured Loss", measured_text(status.last_loss)))
    lines.append(row("Degradation Risk", status.degradation.risk.capitalize()))
    if context.problems:
        n = len(context.problems)
        first = min(context.problems, key=lambda problem: problem.offset)
        lines.append(
            row("Unreadable Lines", f"{n}, the first at byte {first.offset:,}: {first.message}")
        )
    if status.degradation.n_compactions >= HIGH_COMPACTIONS:
        lines += ["", status.degradation.recommendation]
    return "\n".join(lines)


def total_text(gauge: Gauge) -> str:
    if gauge.used_tokens is None or gauge.utilization is None:
        return f"unknown / {gauge.window.n_tokens:,}"
    return f"{gauge.used_tokens:,} / {gauge.window.n_tokens:,} ({gauge.utilization:.1%})"


def window_text(window: Window) -> str:
    """Say how large the window is and who says so."""
    return f"{window.n_tokens:,} by {window.source} ({window.detail})"


def used_text(gauge: Gauge) -> str:
    """Say where the figure of the used tokens comes from."""
    counted = f"{gauge.n_counted:,} counted"
    match gauge.used_source:
        case "reported":
            base = f"{gauge.n_reported:,} reported by the provider"
            return f"{base} + {counted} since" if gauge.n_counted else base
        case "estimated":
            base = f"{gauge.n_noted:,} noted by the last compaction or prune"
            return f"{base} + {counted} since" if gauge.n_counted else base
        case "counted":
            return f"{counted} by tokenizer; system prompt and tools not included"
        case "unknown":
            return "unknown until the next answer"


def due_text(status: Status) -> str:
    return ", ".join(trigger.name for trigger in status.due)


def trigger_text(status: Status) -> str:
    trigger, used = status.next_trigger, status.gauge.used_tokens
    if trigger is None or used is None:
        return "all thresholds are passed: compact now" if used else "unknown"
    return f"{trigger.name} at {trigger.at_tokens:,}, in {trigger.at_tokens - used:,} tokens"


def row(label: str, value: str) -> str:
    return f"{label + ':' if label else '':<{LABEL_CHARS}}{value}"


def bar(ratio: float, n_chars: int = BAR_CHARS) -> str:
    """Draw a share of the window; a full bar for everything above 1."""
    n_filled = min(n_chars, round(ratio * n_chars))
    return "█" * n_filled + "░" * (n_chars - n_filled)


def ago(at_ms: int | None) -> str:
    """Tell a time relative to now, in the largest whole unit."""
    if at_ms is None:
        return "at an unknown time"
    seconds = max(0, int(datetime.now(UTC).timestamp() - at_ms / 1000))
    for unit, length in _UNITS:
        n_units = seconds // length
        if n_units:
            return f"{n_units} {unit}{'s' if n_units > 1 else ''} ago"
    return "just now"
