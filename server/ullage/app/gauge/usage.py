"""What the sessions of folders sent to their models, day by day, and what that costs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from itertools import takewhile
from pathlib import Path

import msgspec

from ullage.app.gauge.price import tokens_text, usd_text
from ullage.app.sessions.find import list_sessions, list_subagents
from ullage.app.sessions.load import read
from ullage.app.sessions.past import list_all_items
from ullage.app.sessions.session import Session
from ullage.core.gauge.usage import DEFAULT_DAYS, Spent, add_up, find_spent
from ullage.core.text.prose import plural
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Usage
from ullage.errors import InputError
from ullage.formats.reading import Reading
from ullage.store.files.local_time import day_of
from ullage.store.files.places import Places
from ullage.store.gauge.models import find_priced_model

HEADS = ("Day", "Requests", "Sent", "Cached", "Answered", "Compacted", "Cost")
WIDTHS = (8, 7, 6, 8, 9, 8)
"""Of all but the day."""
MIN_BAR_CHARS, MAX_BAR_CHARS = 8, 40
UNKNOWN_MODEL = "model not named"
PRICE_NOTE = "Costs: tokens as recorded, at the API's published prices; a plan has its own."
LOOK_BACK = "`ullage usage --days N` looks further back."


class SpentReport(msgspec.Struct, frozen=True, kw_only=True):
    requests: int
    sent_tokens: int
    cached_tokens: int
    """Of what was sent, what was read from the cache."""
    answered_tokens: int
    cost_usd: float
    """By the published prices of the API, without the requests that have none."""
    unpriced_requests: int


class DayReport(msgspec.Struct, frozen=True, kw_only=True):
    day: str
    """By the clock here: `2026-11-28`."""
    spent: SpentReport
    compactions: int


class ModelReport(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    spent: SpentReport


class UsageReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage usage --json`."""

    folders: list[str]
    since: str
    days: list[DayReport]
    """Those on which there was something, the first one first."""
    models: list[ModelReport]
    """Those that were sent most first."""
    total: SpentReport
    problems: list[str]
    """What could not be read, a line each; there may be more requests in it."""


_Key = str | tuple[str | int | None, ...]


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    day: date
    model: str
    spent: Spent


class _Read(msgspec.Struct):
    """What was learned of all sessions; what stands in two of them, as in a copy, counts once."""

    first_day: date
    last_day: date
    answers: dict[_Key, _Answer] = {}
    compactions: dict[_Key, date] = {}

    def day_in(self, at_ms: int | None) -> date | None:
        """Tell the day, unless it is no day, or none of those that are added up."""
        day = day_of(at_ms)
        return day if day is not None and self.first_day <= day <= self.last_day else None


def report_usage(
    folders: Sequence[Path], places: Places, *, today: date, n_days: int = DEFAULT_DAYS
) -> UsageReport:
    """Add up what was reported on the last days, subagents included.

    Takes some 15 ms for each megabyte of the sessions that were written to since.
    """
    since = today - timedelta(days=n_days - 1)
    found, problems = _Read(since, today), list[str]()
    for session in _list_since(_start_ms(since), folders, places, problems):
        try:
            _add(session, read(session, places), found)
        except InputError as error:
            problems.append(str(error))
    by_day: defaultdict[date, list[Spent]] = defaultdict(list)
    by_model: defaultdict[str, list[Spent]] = defaultdict(list)
    for answer in found.answers.values():
        by_day[answer.day].append(answer.spent)
        by_model[answer.model].append(answer.spent)
    compactions = Counter(found.compactions.values())
    models = {model: add_up(parts) for model, parts in by_model.items()}
    return UsageReport(
        folders=list(map(str, folders)),
        since=since.isoformat(),
        days=[
            DayReport(
                day=day.isoformat(),
                spent=_report(add_up(by_day[day])),
                compactions=compactions[day],
            )
            for day in sorted({*by_day, *compactions})
        ],
        models=[
            ModelReport(model=model, spent=_report(spent))
            for model, spent in sorted(models.items(), key=lambda each: -each[1].n_sent)
        ],
        total=_report(add_up(models.values())),
        problems=list(dict.fromkeys(problems)),
    )


def usage_text(report: UsageReport, n_columns: int) -> str:
    """Write a row and a bar a day, what all of them are, and what each model took."""
    if not report.days:
        return "\n".join((empty_text(report), LOOK_BACK, *note_lines(report)))
    head = _row(HEADS)
    n_bar_chars = min(MAX_BAR_CHARS, max(MIN_BAR_CHARS, n_columns - len(head) - 2))
    most = max(1, *(day.spent.sent_tokens for day in report.days))
    bars = ("█" * round(n_bar_chars * day.spent.sent_tokens / most) for day in report.days)
    rows = (
        f"{_row(day_cells(day))}  {bar}".rstrip()
        for day, bar in zip(report.days, bars, strict=True)
    )
    return "\n".join((head, *rows, _row(total_cells(report)), "", *note_lines(report)))


def empty_text(report: UsageReport) -> str:
    return f"No model answered in {', '.join(report.folders)} since {report.since}."


def day_cells(day: DayReport) -> tuple[str, ...]:
    return _cells(day.day, day.spent, day.compactions)


def total_cells(report: UsageReport) -> tuple[str, ...]:
    return _cells("all", report.total, sum(day.compactions for day in report.days))


def note_lines(report: UsageReport) -> tuple[str, ...]:
    """Tell what each model took, by what costs were worked out, and what is not in them."""
    problems = tuple(f"Not counted: {problem}." for problem in report.problems)
    if not report.days:
        return problems
    models = (
        f"{model.model}: {plural(model.spent.requests, 'request')}, {_cost_text(model.spent)}"
        for model in report.models
    )
    n_unpriced = report.total.unpriced_requests
    unpriced = f"Without {plural(n_unpriced, 'request')} of models whose price is not known."
    notes = (PRICE_NOTE, *((unpriced,) if n_unpriced else ()), *problems)
    return (*models, "", *notes)


def _list_since(
    since_ms: int, folders: Sequence[Path], places: Places, problems: list[str]
) -> Iterator[Session]:
    for folder in folders:
        sessions = takewhile(
            lambda session: session.lines.written_ns >= since_ms * 1_000_000,
            list_sessions(folder, places, problems, is_undone_too=True),
        )
        for session in sessions:
            yield session
            yield from list_subagents(session, places, problems)


def _add(session: Session, reading: Reading, found: _Read) -> None:
    context, agent = reading.context, reading.context.header.agent
    for item in list_all_items(session, reading):
        message = item.message
        usage = message.usage or message.unfinished_usage
        _add_answer(usage, item.at_ms, message.model, message.answer_id, context, found)
    for ref in context.compactions:
        compaction = session.agent.read_compaction(session.lines, ref)
        if compaction is not None and (day := found.day_in(compaction.at_ms)) is not None:
            found.compactions[agent, compaction.at_ms] = day
            _add_answer(compaction.usage, compaction.at_ms, compaction.model, None, context, found)


def _add_answer(
    usage: Usage | None,
    at_ms: int | None,
    model: str | None,
    answer_id: str | None,
    context: Context,
    found: _Read,
) -> None:
    if usage is None or (day := found.day_in(at_ms)) is None:
        return
    agent, model = context.header.agent, model or context.model
    # The id of an entry may be its place in one file, and a copy of it has another. An answer may
    # stand on several entries: the last one has all of it.
    key = answer_id or (agent, at_ms, usage.n_sent, usage.n_output)
    row = find_priced_model(agent, context.provider, model)
    spent = find_spent(usage, row)
    found.answers[key] = _Answer(day=day, model=model or UNKNOWN_MODEL, spent=spent)


def _start_ms(day: date) -> int:
    return int(datetime.combine(day, time.min).astimezone().timestamp() * 1000)


def _report(spent: Spent) -> SpentReport:
    return SpentReport(
        requests=spent.n_requests,
        sent_tokens=spent.n_sent,
        cached_tokens=spent.n_cached,
        answered_tokens=spent.n_answered,
        cost_usd=round(spent.usd, 6),
        unpriced_requests=spent.n_unpriced,
    )


def _cells(name: str, spent: SpentReport, n_compactions: int) -> tuple[str, ...]:
    return (
        name,
        f"{spent.requests:,}",
        tokens_text(spent.sent_tokens),
        f"{spent.cached_tokens / spent.sent_tokens:.0%}" if spent.sent_tokens else "",
        tokens_text(spent.answered_tokens),
        f"{n_compactions or ''}",
        _cost_text(spent),
    )


def _row(cells: Iterable[str]) -> str:
    name, *figures = cells
    wide = (f"{figure:>{n_chars}}" for figure, n_chars in zip(figures, WIDTHS, strict=True))
    return "  ".join((f"{name:<10}", *wide))


def _cost_text(spent: SpentReport) -> str:
    if spent.unpriced_requests == spent.requests:
        return "?" if spent.requests else ""
    return usd_text(spent.cost_usd)
