"""Inspect a session: what fills its window, what is largest, what to do about it."""

import msgspec

from ullage.app.gauge.due import find_due
from ullage.app.gauge.status_text import RULE, StatusReport, bar, report_status, status_text
from ullage.app.sessions.load import Loaded
from ullage.core.change.due import DuePlan
from ullage.core.gauge.breakdown import (
    Advice,
    Breakdown,
    EntryTokens,
    Share,
    advise,
    break_down,
    largest,
    list_parts,
    share_out,
)
from ullage.core.gauge.forecast import Forecast, forecast
from ullage.core.gauge.status import rfc3339
from ullage.core.secrets.scan import mask

INSPECT_BAR_CHARS = 30
"""So that a row fits into 80 columns."""


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    loaded: Loaded
    breakdown: Breakdown
    largest: tuple[EntryTokens, ...]
    advice: tuple[Advice, ...]
    forecast: Forecast | None


class LargeEntry(msgspec.Struct, frozen=True, kw_only=True):
    entry_id: str
    category: str
    label: str
    tokens: int
    at: str | None


class InspectReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage context inspect --json`."""

    status: StatusReport
    categories: tuple[Share, ...]
    free_tokens: int
    largest_entries: list[LargeEntry]
    advice: tuple[Advice, ...]
    forecast: Forecast | None


class WindowShares(msgspec.Struct, frozen=True, kw_only=True):
    """Of a session as it was loaded."""

    shares: tuple[Share, ...]
    """Largest first; with what is unseen they add up to the gauge."""
    forecast: Forecast | None
    due: DuePlan


def inspect(loaded: Loaded, n_largest: int) -> Inspection:
    """Count every entry of the context and judge what is worth taking out."""
    status = loaded.status
    breakdown = break_down(
        loaded.context, status.gauge, loaded.count, lambda text: mask(text, loaded.known_secrets)
    )
    loaded.count.save()
    return Inspection(
        loaded=loaded,
        breakdown=breakdown,
        largest=largest(breakdown, n_largest),
        advice=advise(loaded.context.items, breakdown),
        forecast=_forecast(loaded),
    )


def report_inspection(inspection: Inspection) -> InspectReport:
    return InspectReport(
        status=report_status(inspection.loaded),
        categories=inspection.breakdown.shares,
        free_tokens=inspection.breakdown.n_free,
        largest_entries=[
            LargeEntry(
                entry_id=entry.entry_id,
                category=entry.category,
                label=entry.label,
                tokens=entry.n_tokens,
                at=rfc3339(entry.at_ms),
            )
            for entry in inspection.largest
        ],
        advice=inspection.advice,
        forecast=inspection.forecast,
    )


def inspection_text(inspection: Inspection) -> str:
    """Write the status, then categories, largest entries, advice and forecast."""
    window = inspection.loaded.status.gauge.window.n_tokens
    lines = [status_text(inspection.loaded), "", "What fills the window", RULE]
    lines += [
        f"{share.category:<22}{share.n_tokens:>10,}  {share.ratio:>5.1%}  "
        f"{bar(share.ratio, INSPECT_BAR_CHARS)}"
        for share in inspection.breakdown.shares
    ]
    free = inspection.breakdown.n_free
    lines.append(f"{'free':<22}{free:>10,}  {free / window:>5.1%}")
    lines += ["", "Largest entries", RULE]
    lines += [
        f"{entry.n_tokens:>8,}  {entry.category:<13}{entry.entry_id[:8]:<10}{entry.label}"
        for entry in inspection.largest
    ]
    if inspection.advice:
        lines += ["", "Advice", RULE]
        lines += [f"frees {advice.n_tokens:>8,}  {advice.text}" for advice in inspection.advice]
    guess = inspection.forecast
    if guess is not None:
        lines += [
            "",
            f"Forecast: {guess.turns_low} to {guess.turns_high} turns until {guess.trigger}",
            f"  in 80 % of cases, by {guess.tokens_a_turn:,} tokens a turn"
            f" over {guess.n_observed} turns",
        ]
    return "\n".join(lines)


def fill(loaded: Loaded) -> WindowShares:
    """Count every message of the context; what was counted before costs a look-up."""
    items = loaded.context.items
    parts = list(list_parts(items, loaded.count))
    loaded.count.save()
    return WindowShares(
        shares=share_out(parts, loaded.status.gauge),
        forecast=_forecast(loaded),
        due=find_due(loaded),
    )


def _forecast(loaded: Loaded) -> Forecast | None:
    used, trigger = loaded.status.gauge.used_tokens, loaded.status.next_trigger
    if used is None or trigger is None:
        return None
    return forecast(loaded.context, used, trigger)
