"""What the sessions of a folder sent to their models, day by day, and what that costs."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from itertools import takewhile

import msgspec

from ullage.app.gauge.price import tokens_text, usd_text
from ullage.app.sessions.find import list_sessions, list_subagents
from ullage.app.sessions.load import read
from ullage.app.sessions.past import list_all_items
from ullage.app.sessions.session import Session
from ullage.core.gauge.usage import Spent, add_up, find_spent
from ullage.core.text.prose import plural
from ullage.core.transcript.context import ContextItem
from ullage.errors import InputError
from ullage.formats.reading import Reading
from ullage.store.files.places import Places
from ullage.store.gauge.models import find_priced_model

HEAD = "Day         Requests     Sent  Cached  Answered  Compacted      Cost"
MIN_BAR_CHARS, MAX_BAR_CHARS = 8, 40
UNKNOWN_MODEL = "model not named"
PRICE_NOTE = "Costs: what agents recorded, at the API's published prices; a plan has its own."


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

    cwd: str
    since: str
    days: list[DayReport]
    """Those on which there was something, the first one first."""
    models: list[ModelReport]
    """Those that were sent most first."""
    total: SpentReport
    problems: list[str]
    """What could not be read, a line each; there may be more requests in it."""


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    at_ms: int
    model: str
    spent: Spent


class _Read(msgspec.Struct, frozen=True):
    """What was learned of all sessions; what stands in two of them, as in a copy, counts once."""

    since_ms: int
    answers: dict[str, _Answer] = {}
    compactions: dict[str, int] = {}
    """When each was, by its entry."""


def report_usage(today: date, n_days: int, places: Places) -> UsageReport:
    """Add up what was reported on the last days, subagents included.

    Takes some 15 ms for each megabyte of the sessions that were written to since.
    """
    since = today - timedelta(days=n_days - 1)
    found, problems = _Read(_start_ms(since)), list[str]()
    for session in _list_since(found.since_ms, places, problems):
        try:
            _add(session, read(session, places), found)
        except InputError as error:
            problems.append(str(error))
    by_day: defaultdict[date, list[Spent]] = defaultdict(list)
    by_model: defaultdict[str, list[Spent]] = defaultdict(list)
    for answer in found.answers.values():
        by_day[_day_of(answer.at_ms)].append(answer.spent)
        by_model[answer.model].append(answer.spent)
    compactions = Counter(map(_day_of, found.compactions.values()))
    models = {model: add_up(parts) for model, parts in by_model.items()}
    return UsageReport(
        cwd=str(places.cwd),
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
    notes = [f"Not counted: {problem}." for problem in report.problems]
    if not report.days:
        return "\n".join((f"No model answered in {report.cwd} since {report.since}.", *notes))
    n_bar_chars = min(MAX_BAR_CHARS, max(MIN_BAR_CHARS, n_columns - len(HEAD) - 2))
    most = max(1, *(day.spent.sent_tokens for day in report.days))
    rows = [
        f"{_row(day.day, day.spent, day.compactions)}  "
        f"{'█' * round(n_bar_chars * day.spent.sent_tokens / most)}".rstrip()
        for day in report.days
    ]
    n_compactions = sum(day.compactions for day in report.days)
    models = [
        f"{model.model}: {plural(model.spent.requests, 'request')}, {_cost_text(model.spent)}"
        for model in report.models
    ]
    if n_unpriced := report.total.unpriced_requests:
        notes.insert(
            0, f"Without {plural(n_unpriced, 'request')} of models whose price is unknown."
        )
    total = _row("all", report.total, n_compactions)
    return "\n".join((HEAD, *rows, total, "", *models, "", PRICE_NOTE, *notes))


def _list_since(since_ms: int, places: Places, problems: list[str]) -> Iterator[Session]:
    sessions = takewhile(
        lambda session: session.lines.written_ns >= since_ms * 1_000_000,
        list_sessions(places.cwd, places, problems),
    )
    for session in sessions:
        yield session
        yield from list_subagents(session, places, problems)


def _add(session: Session, reading: Reading, found: _Read) -> None:
    context = reading.context
    for item in list_all_items(session, reading):
        usage = item.message.usage
        if usage is not None and item.at_ms is not None and item.at_ms >= found.since_ms:
            model = item.message.model or context.model
            row = find_priced_model(context.header.agent, context.provider, model)
            # One answer may stand on several entries: the last one has all of it.
            found.answers[_key_of(item)] = _Answer(
                at_ms=item.at_ms, model=model or UNKNOWN_MODEL, spent=find_spent(usage, row)
            )
    for ref in context.compactions:
        compaction = session.agent.read_compaction(session.lines, ref)
        if compaction is not None and (compaction.at_ms or 0) >= found.since_ms:
            found.compactions[compaction.entry_id] = compaction.at_ms or 0


def _key_of(item: ContextItem) -> str:
    return item.message.answer_id or item.entry_id


def _start_ms(day: date) -> int:
    return int(datetime.combine(day, time.min).astimezone().timestamp() * 1000)


def _day_of(at_ms: int) -> date:
    return datetime.fromtimestamp(at_ms / 1000).date()


def _report(spent: Spent) -> SpentReport:
    return SpentReport(
        requests=spent.n_requests,
        sent_tokens=spent.n_sent,
        cached_tokens=spent.n_cached,
        answered_tokens=spent.n_answered,
        cost_usd=round(spent.usd, 6),
        unpriced_requests=spent.n_unpriced,
    )


def _row(name: str, spent: SpentReport, n_compactions: int) -> str:
    cached = f"{spent.cached_tokens / spent.sent_tokens:.0%}" if spent.sent_tokens else ""
    return (
        f"{name:<10}  {spent.requests:>8,}  {tokens_text(spent.sent_tokens):>7}  {cached:>6}"
        f"  {tokens_text(spent.answered_tokens):>8}  {n_compactions or '':>9}"
        f"  {_cost_text(spent):>8}"
    )


def _cost_text(spent: SpentReport) -> str:
    return "?" if spent.unpriced_requests == spent.requests else usd_text(spent.cost_usd)
