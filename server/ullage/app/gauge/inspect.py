"""Inspect a session: what fills its window, what is largest, what to do about it."""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec
from msgspec.structs import replace

from ullage.app.gauge.due import find_due
from ullage.app.gauge.price import cost_text, find_rate, rate_text, tokens_text, usd_text
from ullage.app.gauge.status_text import (
    ROW_CHARS,
    RULE,
    StatusReport,
    bar,
    report_status,
    status_text,
)
from ullage.app.sessions.load import Loaded
from ullage.core.assembly.parts import CONVERSATION, Part
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
from ullage.core.gauge.price import Rate, find_cost
from ullage.core.gauge.status import rfc3339
from ullage.core.secrets.scan import mask

INSPECT_BAR_CHARS = 30
"""So that a row fits into 80 columns."""
SOURCE_CHARS = 30
CUT_CHARS = 76
"""The same for a part's source, and for what of it is cut."""
_ADVICE_INDENT = " " * 16


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    loaded: Loaded
    breakdown: Breakdown
    parts: tuple[Part, ...]
    """In the order of the request."""
    largest: tuple[EntryTokens, ...]
    advice: tuple[Advice, ...]
    rate: Rate
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
    parts: tuple[Part, ...]
    free_tokens: int
    largest_entries: list[LargeEntry]
    advice: tuple[Advice, ...]
    rate: Rate
    forecast: Forecast | None


class WindowShares(msgspec.Struct, frozen=True, kw_only=True):
    """Of a session as it was loaded."""

    shares: tuple[Share, ...]
    """Largest first; with what is unseen they add up to the gauge."""
    forecast: Forecast | None
    due: DuePlan


def inspect(
    loaded: Loaded, n_largest: int, parts: tuple[Part, ...], more_advice: Sequence[Advice]
) -> Inspection:
    """Count every entry of the context and judge what is worth taking out.

    `parts` are those of the next request (`app/assembly/parts.py`), and what is told of them.
    """
    status = loaded.status
    breakdown = break_down(
        loaded.context, status.gauge, loaded.count, lambda text: mask(text, loaded.known_secrets)
    )
    loaded.count.save()
    rate = find_rate(loaded)
    advice = (*advise(loaded.context.items, breakdown), *more_advice)
    return Inspection(
        loaded=loaded,
        breakdown=breakdown,
        parts=tuple(replace(part, cost=find_cost(part.n_tokens, rate)) for part in parts),
        largest=largest(breakdown, n_largest),
        advice=tuple(
            replace(tip, cost=find_cost(tip.n_tokens, rate))
            for tip in sorted(advice, key=lambda tip: tip.n_tokens, reverse=True)
        ),
        rate=rate,
        forecast=_forecast(loaded),
    )


def report_inspection(inspection: Inspection) -> InspectReport:
    return InspectReport(
        status=report_status(inspection.loaded),
        categories=inspection.breakdown.shares,
        parts=inspection.parts,
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
        rate=inspection.rate,
        forecast=inspection.forecast,
    )


def inspection_text(inspection: Inspection) -> str:
    """Write the status, then categories, parts, largest entries, advice and forecast."""
    window = inspection.loaded.status.gauge.window.n_tokens
    lines = [status_text(inspection.loaded), "", "What fills the window", RULE]
    lines += [
        f"{share.category:<22}{share.n_tokens:>10,}  {share.ratio:>5.1%}  "
        f"{bar(share.ratio, INSPECT_BAR_CHARS)}"
        for share in inspection.breakdown.shares
    ]
    free = inspection.breakdown.n_free
    lines.append(f"{'free':<22}{free:>10,}  {free / window:>5.1%}")
    if inspection.parts:
        lines += ["", *_part_lines(inspection)]
    lines += ["", "Largest entries", RULE]
    lines += [
        f"{entry.n_tokens:>8,}  {entry.category:<13}{entry.entry_id[:8]:<10}{entry.label}"
        for entry in inspection.largest
    ]
    if inspection.advice:
        lines += ["", "Advice, and what it frees at most", RULE]
        lines += chain.from_iterable(map(_advice_lines, inspection.advice))
    guess = inspection.forecast
    if guess is not None:
        lines += [
            "",
            f"Forecast: {guess.turns_low} to {guess.turns_high} turns until {guess.trigger}",
            f"  in 80 % of cases, by {guess.tokens_a_turn:,} tokens a turn"
            f" over {guess.n_observed} turns",
        ]
    return "\n".join(lines)


def _part_lines(inspection: Inspection) -> Iterator[str]:
    yield f"{'What is sent':<23}{'tokens':>9}{'a day':>8}{'cost':>8}"
    yield RULE
    for part in inspection.parts:
        n_tokens = f"{'' if part.is_exact else '~'}{part.n_tokens:,}"
        n_a_day, usd = part.cost.tokens_a_day, part.cost.usd_a_day
        a_day = "" if n_a_day is None else tokens_text(n_a_day)
        price = "" if usd is None else usd_text(usd)
        source = _shorten_source(part.source)
        yield f"{part_title(part):<23}{n_tokens:>9}{a_day:>8}{price:>8}  {source}"
        if part.cut:
            yield from _wrap(f"not sent: {part.cut}", "    ", CUT_CHARS)
    if told := rate_text(inspection.rate):
        yield from _wrap(told, "")


def _advice_lines(advice: Advice) -> Iterator[str]:
    cost = cost_text(advice.cost)
    first, *rest = _wrap(f"{advice.text}{cost and f' ({cost})'}", _ADVICE_INDENT)
    yield f"up to {advice.n_tokens:>8,}  {first.lstrip()}"
    yield from rest


def _wrap(text: str, indent: str, n_chars: int = ROW_CHARS) -> list[str]:
    return textwrap.wrap(
        text, n_chars, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def part_title(part: Part) -> str:
    """Name a part; what was sent again, or only after an answer, is told apart."""
    is_later = part.place == "later message" and part.name != CONVERSATION
    return f"{part.name}, later" if is_later else part.name


def _shorten_source(source: str) -> str:
    """Leave out the beginning of a long path: its end tells more."""
    return source if len(source) <= SOURCE_CHARS else f"…{source[1 - SOURCE_CHARS :]}"


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
