"""Inspect a session: what fills its window, what is largest, what to do about it."""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec
from msgspec.structs import replace

from ullage.app.gauge.due import find_due
from ullage.app.gauge.price import cost_text, find_rate, rate_text, tokens_text, usd_text
from ullage.app.gauge.status_report import StatusReport, report_status
from ullage.app.gauge.status_text import ROW_CHARS, RULE, bar, status_text
from ullage.app.sessions.load import Loaded
from ullage.core.assembly.parts import CONVERSATION, Part
from ullage.core.change.due import DuePlan
from ullage.core.gauge.breakdown import (
    LABEL_CHARS,
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
from ullage.core.gauge.price import Cost, Rate, find_cost
from ullage.core.gauge.status import rfc3339
from ullage.core.secrets.scan import mask
from ullage.core.text.prose import plural
from ullage.core.text.short_paths import cut_left, shorten_paths
from ullage.core.transcript.context import UNSEEN

MIN_BAR_CHARS, MAX_BAR_CHARS = 10, 30
"""What a bar has at least and at most of what the other columns leave of a row (chosen)."""
MAX_PARTS = 20
"""Of a category (chosen): a user may have a hundred skills."""
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

    def parts_in(self, category: str) -> list[Part]:
        return [part for part in self.parts if part.category == category]


_HEADING = "What fills the window"
_N_SIZE, _N_FIGURES = 18, 35
"""Columns of tokens and share, and of these with what they cost a day."""


class _Row(msgspec.Struct, frozen=True):
    """One line of the table."""

    name: str
    tokens: str
    ratio: float
    """Of the window."""
    cost: Cost
    is_top: bool = False
    """Whether it is a category, which has a bar."""
    cut: str = ""

    def write(self, n_name: int, n_bar: int) -> str:
        indent = self.name[: -len(self.name.lstrip())]
        name = indent + cut_left(self.name.lstrip(), n_name - len(indent))
        n_a_day, usd = self.cost.tokens_a_day, self.cost.usd_a_day
        a_day = "" if n_a_day is None else f"{tokens_text(n_a_day):>8}"
        price = "" if usd is None else usd_text(usd)
        figures = f"{self.tokens:>10}{_share_text(self.ratio):>8}{a_day}"
        line = f"{name:<{n_name}}{figures}" + (f"{price:>9}" if a_day else "")
        return f"{line}  {bar(self.ratio, n_bar)}" if n_bar else line.rstrip()


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
        loaded.context,
        status.gauge,
        loaded.count,
        lambda text: _shorten(mask(text, loaded.known_secrets), loaded),
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
                label=entry.label.cut(LABEL_CHARS),
                tokens=entry.n_tokens,
                at=rfc3339(entry.at_ms),
            )
            for entry in inspection.largest
        ],
        advice=inspection.advice,
        rate=inspection.rate,
        forecast=inspection.forecast,
    )


def inspection_text(inspection: Inspection, n_columns: int) -> str:
    """Write the status, then categories with their parts, largest entries, advice and forecast."""
    lines = [status_text(inspection.loaded), "", *_table(inspection, n_columns)]
    if inspection.largest:
        lines += ["", "Largest entries", RULE]
    for entry in inspection.largest:
        head = f"{entry.n_tokens:>8,}  {entry.category:<13}{entry.entry_id[:8]:<10}"
        lines.append(head + entry.label.cut(n_columns - len(head)))
    if inspection.advice:
        lines += ["", "Advice, and what it frees at most", RULE]
        lines += chain.from_iterable(map(_advice_lines, inspection.advice))
    guess = inspection.forecast
    if guess is not None:
        lines += [
            "",
            f"Forecast: {guess.turns_low} to {guess.turns_high} turns until {guess.trigger}",
            f"  in 80 % of cases, by {guess.tokens_a_turn:,} tokens a turn"
            f" over {plural(guess.n_observed, 'turn')}",
        ]
    return "\n".join(lines)


def _table(inspection: Inspection, n_columns: int) -> Iterator[str]:
    """Write a row for each category and, below it, for each part that it is known to have."""
    breakdown, rate = inspection.breakdown, inspection.rate
    window = inspection.loaded.status.gauge.window.n_tokens
    rows: list[_Row] = []
    for share in breakdown.shares:
        if share.n_tokens:
            cost = find_cost(share.n_tokens, rate)
            rows.append(_Row(share.category, f"{share.n_tokens:,}", share.ratio, cost, is_top=True))
            rows += _list_parts(inspection, share, window)
    free = breakdown.n_free
    rows.append(_Row("free", f"{free:,}", free / window, Cost()))
    has_pace = rate.pace is not None
    n_figures = _N_FIGURES if has_pace else _N_SIZE
    n_name = min(max(len(row.name) for row in rows), n_columns - n_figures - MIN_BAR_CHARS - 2)
    n_name = max(n_name, len(_HEADING))
    n_bar = min(n_columns - n_name - n_figures - 2, MAX_BAR_CHARS)
    daily = f"{'a day':>8}{'cost' if rate.prices else '':>9}" if has_pace else ""
    yield f"{_HEADING:<{n_name}}{'tokens':>10}{'share':>8}{daily}"
    yield RULE
    for row in rows:
        yield row.write(n_name, n_bar if row.is_top else 0)
        if row.cut:
            yield from _wrap(f"not sent: {row.cut}", "    ")
    if any(not part.is_exact for part in inspection.parts):
        yield "~: what was reported beyond all that is counted"
    if told := rate_text(rate):
        yield from _wrap(told, "")


def _list_parts(inspection: Inspection, share: Share, window: int) -> Iterator[_Row]:
    parts = inspection.parts_in(share.category)
    # One that has no file and nothing beside it is the category by another name.
    if len(parts) == 1 and not parts[0].is_file and share.category != UNSEEN:
        return
    for part in parts[:MAX_PARTS]:
        name = _shorten(part.source, inspection.loaded) if part.is_file else part.name
        yield _Row(
            f"  {name}{_later(part)}",
            f"{'' if part.is_exact else '~'}{part.n_tokens:,}",
            part.n_tokens / window,
            part.cost,
            cut=part.cut,
        )
    if more := parts[MAX_PARTS:]:
        n_tokens = sum(part.n_tokens for part in more)
        cost = find_cost(n_tokens, inspection.rate)
        yield _Row(f"  {len(more)} more", f"{n_tokens:,}", n_tokens / window, cost)


def _advice_lines(advice: Advice) -> Iterator[str]:
    cost = cost_text(advice.cost)
    first, *rest = _wrap(f"{advice.text}{cost and f' ({cost})'}", _ADVICE_INDENT)
    yield f"up to {advice.n_tokens:>8,}  {first.lstrip()}"
    yield from rest


def _wrap(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, ROW_CHARS, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def part_title(part: Part) -> str:
    """Name a part; what was sent again, or only after an answer, is told apart."""
    return f"{part.name}{_later(part)}"


def _later(part: Part) -> str:
    is_later = part.place == "later message" and part.name != CONVERSATION
    return ", later" if is_later else ""


def _shorten(text: str, loaded: Loaded) -> str:
    home = str(loaded.secrets.places.home)
    return shorten_paths(text, loaded.session.header.cwd, home)


def _share_text(ratio: float) -> str:
    return "<0.1%" if 0 < ratio < 0.0005 else f"{ratio:.1%}"


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
