"""What happened to a session's window: its compactions, and how full it was over time."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import pairwise
from textwrap import wrap
from typing import Literal

import msgspec

from ullage.app.gauge.startup_files import find_unread_startup_files, unread_text
from ullage.app.gauge.status_report import MeasuredReport, report_measured
from ullage.app.gauge.status_text import ROW_CHARS, RULE, local_time
from ullage.app.sessions.copy import find_copy, way_to_copy
from ullage.app.sessions.load import Loaded, counts_for, read
from ullage.app.sessions.past import read_context_before
from ullage.app.sessions.secrets import secrets_for
from ullage.app.sessions.session import Session
from ullage.core.gauge import history
from ullage.core.gauge.gauge import Size, SizeSource, size_at_end, size_at_start
from ullage.core.gauge.loss import add_up_losses, read_noted_loss
from ullage.core.gauge.status import Degradation, evaluate, is_death_spiral, rfc3339
from ullage.core.secrets.scan import mask
from ullage.core.text.prose import gist, plural
from ullage.core.transcript.context import Compaction, Context, PruneRecord
from ullage.core.transcript.lineage import CompactionRef
from ullage.formats.json_line import iso_ms
from ullage.formats.reading import Reading
from ullage.store.files.places import Places
from ullage.store.gauge.tokenizer import count_tokens
from ullage.store.state.startup_files import read_unread_files
from ullage.store.transcript.reader import FileLines


class CompactionReport(msgspec.Struct, frozen=True, kw_only=True):
    """One compaction or prune; what its writer did not note is null."""

    kind: Literal["compaction", "prune"]
    id: str
    at: str | None
    trigger: str | None
    layer: str | None
    tokens_before: int | None
    tokens_before_source: SizeSource | None
    tokens_after: int | None
    """What its writer noted, else what the next answer was sent, less what was said until then."""
    tokens_after_source: SizeSource | None
    ratio: float | None
    """Tokens before by tokens after."""
    n_messages: int | None
    """Messages that the summary replaced, or outputs that a prune did."""
    measured: MeasuredReport | None
    """What its writer measured, if it did."""
    unread_startup_files: tuple[str, ...] | None
    """As `ullage context status` has them, of the time up to the next compaction; null where
    nobody noted them."""
    summary: str


class HistoryReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage context history --json`."""

    session_id: str
    path: str
    goes_on_in: str | None
    """The copy in which it goes on and the command for that, in words; null where it has none."""
    compactions: list[CompactionReport]
    """Prunes on disk among them, as they stand in the file."""
    degradation: Degradation
    """An estimate by the number of compactions alone."""
    measured: MeasuredReport | None
    """The compactions that were measured, added up."""
    n_measured: int
    is_death_spiral: bool
    """More than three compactions: each works on the summary of the one before."""


class EndedContext(msgspec.Struct, frozen=True, kw_only=True):
    """A compaction, and what was reported in the context that it ended."""

    compaction: Compaction
    before: history.UsageSpan


class PastContexts(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's compactions ended: it no longer changes."""

    session_id: str
    ended: Mapping[CompactionRef, EndedContext]
    """In their order, by where each compaction stands."""


def read_history(session: Session, places: Places) -> HistoryReport:
    """Read every compaction on the active path, and every prune of the file."""
    reading = read(session, places)
    context = reading.context
    read_one = session.agent.read_compaction
    readings = ((ref, read_one(session.lines, ref)) for ref in context.compactions)
    compactions = {ref: compaction for ref, compaction in readings if compaction is not None}
    losses = [read_noted_loss(compaction.details) for compaction in compactions.values()]
    n_compactions = len(context.compactions)
    secrets = secrets_for(session.header, places)
    copy = find_copy(session, places)
    unread = _read_unread(session, context, places)
    sizes = _read_sizes(session, reading, compactions, places)
    reports = {
        ref.offset: _report(compaction, sizes[ref], secrets, unread.get(ref.offset))
        for ref, compaction in compactions.items()
    }
    reports |= {at: _report_prune(prune) for at, prune in _prunes_by_place(session)}
    return HistoryReport(
        session_id=session.header.session_id,
        path=str(session.path),
        goes_on_in=None if copy is None else way_to_copy(copy, secrets),
        compactions=[reports[at] for at in sorted(reports)],
        degradation=evaluate(n_compactions, session.fresh_start()),
        measured=report_measured(add_up_losses(losses)),
        n_measured=sum(loss is not None for loss in losses),
        is_death_spiral=is_death_spiral(n_compactions),
    )


def history_text(report: HistoryReport, n_columns: int) -> str:
    """List the compactions and prunes of a session, and what they cost."""
    goes_on = [] if report.goes_on_in is None else [f"Goes on in {report.goes_on_in}"]
    if not report.compactions:
        return "\n".join(("This session has not been compacted or pruned.", *goes_on))
    lines = ["Compaction History", RULE]
    for number, compaction in enumerate(report.compactions, 1):
        before = _tokens(compaction.tokens_before, compaction.tokens_before_source)
        after = _tokens(compaction.tokens_after, compaction.tokens_after_source)
        tokens = f"{before} → {after} tokens"
        noted = " · ".join(part for part in (compaction.trigger, compaction.layer) if part)
        at = "unknown time" if compaction.at is None else local_time(iso_ms(compaction.at))
        lines.append(f"{number:>3}. {at}  {tokens}  {noted}".rstrip())
        first = next((line for line in compaction.summary.split("\n") if _tells(line)), "")
        lines.append(f"     {gist(first, n_columns - 5)}")
        if compaction.measured is not None:
            lines.append(f"     {compaction.measured.text}")
        if compaction.unread_startup_files:
            lines += wrap(
                unread_text(compaction.unread_startup_files, at),
                ROW_CHARS,
                initial_indent=" " * 5,
                subsequent_indent=" " * 5,
                break_long_words=False,
                break_on_hyphens=False,
            )
    degradation = report.degradation
    risk = degradation.risk.capitalize()
    lines += [
        "",
        f"Degradation Risk: {risk}, about {degradation.loss_percent} % lost"
        " (by their number alone)",
    ]
    if report.measured is not None:
        lines.append(
            f"Measured: {report.measured.text}"
            f" ({report.n_measured} of {plural(degradation.n_compactions, 'compaction')} measured)"
        )
    if report.is_death_spiral:
        lines.append("More than 3 compactions: start a fresh session soon.")
    if degradation.risk in ("high", "critical"):
        # Below that it says that all is well, beside a risk that may be medium.
        lines.append(degradation.recommendation)
    return "\n".join((*lines, *goes_on))


def _read_unread(
    session: Session, context: Context, places: Places
) -> dict[int, tuple[str, ...] | None]:
    """Give what was noted of earlier compactions, and what holds of the last, by their places."""
    noted = read_unread_files(session.state_key, places)
    unread = {ref.offset: noted.get(number) for number, ref in enumerate(context.compactions, 1)}
    latest = find_unread_startup_files(context)
    if latest is not None:
        unread[context.compactions[-1].offset] = latest
    return unread


def _read_sizes(
    session: Session,
    reading: Reading,
    compactions: Mapping[CompactionRef, Compaction],
    places: Places,
) -> dict[CompactionRef, tuple[Size | None, Size | None]]:
    """Give what each compaction was made from and what it came to.

    What its writer did not note is read from the contexts around it, one after the other: they are
    held one at a time. Of a database or a compressed file that is the present one alone: an earlier
    one is read there from the beginning.
    """
    count = counts_for(reading.context.model, places, count_tokens)
    before: dict[CompactionRef, Size | None] = {
        ref: _noted(compaction.n_tokens_before) for ref, compaction in compactions.items()
    }
    after: dict[CompactionRef, Size | None] = {
        ref: None if compaction.is_after_of_messages else _noted(compaction.n_tokens_after)
        for ref, compaction in compactions.items()
    }
    boundary, is_file = reading.context.boundary, isinstance(session.lines, FileLines)
    if boundary is not None and not is_file:
        before[reading.context.compactions[-1]] = _noted(boundary.n_tokens_before)
    for last, ref in pairwise((None, *compactions, None)):
        lacks_after = last is not None and after[last] is None
        lacks_before = ref is not None and before[ref] is None
        if not (lacks_after or lacks_before) or not (ref is None or is_file):
            continue
        context = reading.context
        if ref is not None:
            context = read_context_before(session, compactions[ref], ref, reading.index)
        if last is not None and lacks_after:
            noted = _noted(compactions[last].n_tokens_after)
            after[last] = size_at_start(context, count) or noted
        if ref is not None and lacks_before:
            before[ref] = size_at_end(context, count)
    count.save()
    return {ref: (before[ref], after[ref]) for ref in compactions}


def _noted(n_tokens: int | None) -> Size | None:
    return None if n_tokens is None else Size(n_tokens=n_tokens, source="noted")


def _ratio(before: Size | None, after: Size | None) -> float | None:
    if before is None or after is None or not (before.n_tokens and after.n_tokens):
        return None
    return round(before.n_tokens / after.n_tokens, 2)


def _report(
    compaction: Compaction,
    sizes: tuple[Size | None, Size | None],
    secrets: tuple[str, ...],
    unread: tuple[str, ...] | None,
) -> CompactionReport:
    before, after = sizes
    return CompactionReport(
        kind="compaction",
        id=compaction.entry_id,
        at=rfc3339(compaction.at_ms),
        trigger=compaction.trigger,
        layer=compaction.layer,
        tokens_before=before and before.n_tokens,
        tokens_before_source=before and before.source,
        tokens_after=after and after.n_tokens,
        tokens_after_source=after and after.source,
        ratio=_ratio(before, after),
        n_messages=compaction.n_messages,
        measured=report_measured(read_noted_loss(compaction.details)),
        unread_startup_files=unread,
        summary=mask(compaction.summary, secrets),
    )


def _prunes_by_place(session: Session) -> Iterator[tuple[int, PruneRecord]]:
    read_prune = session.agent.read_prune
    if read_prune is not None:
        for line in session.lines.forward():
            if (record := read_prune(line)) is not None:
                yield line.offset, record


def _report_prune(record: PruneRecord) -> CompactionReport:
    """Report a prune in the words of docs/design/sessions.md, "Compaction events"."""
    before, after = _noted(record.n_tokens_before), _noted(record.n_tokens_after)
    n_freed = "?" if before is None or after is None else before.n_tokens - after.n_tokens
    return CompactionReport(
        kind="prune",
        id=record.entry_id,
        at=rfc3339(record.at_ms),
        trigger=None,
        layer="prune",
        tokens_before=before and before.n_tokens,
        tokens_before_source=before and before.source,
        tokens_after=after and after.n_tokens,
        tokens_after_source=after and after.source,
        ratio=_ratio(before, after),
        n_messages=record.n_pruned,
        measured=None,
        unread_startup_files=None,
        summary=f"[Tool outputs pruned. Dropped {record.n_pruned} outputs ({n_freed} tokens).]",
    )


def _tokens(n_tokens: int | None, source: SizeSource | None) -> str:
    mark = "~" if source == "estimated" else ""
    return "?" if n_tokens is None else f"{mark}{n_tokens:,}"


def _tells(line: str) -> bool:
    """Whether a line of a summary says something of its own: no heading, nor when it was made."""
    return bool(line.strip()) and not line.startswith(("#", "(as of "))


def read_past(loaded: Loaded, before: PastContexts | None) -> PastContexts:
    """Read every context that a compaction ended, each once; what was read `before` is taken.

    Takes some 15 ms for each megabyte that is new (`benchmarks/editor.py`).
    """
    session_id = loaded.session.header.session_id
    earlier: Mapping[CompactionRef, EndedContext] = {}
    if before is not None and before.session_id == session_id:
        earlier = before.ended
    ended: dict[CompactionRef, EndedContext] = {}
    seen: set[str] = set()
    for ref in loaded.context.compactions:
        end = earlier.get(ref) or _read_ended(loaded, ref, seen)
        if end is not None:
            ended[ref] = end
            seen |= _entry_ids(end.before)
    return PastContexts(session_id=session_id, ended=ended)


def window_history(loaded: Loaded, past: PastContexts) -> history.WindowHistory:
    """Put the past and the present context into one line."""
    points: list[history.UsagePoint] = []
    marks: list[history.HistoryMark] = []
    seen: set[str] = set()
    for end in past.ended.values():
        _add_stretch(end.before, points, marks)
        marks.append(history.mark_change(end.compaction, len(points)))
        seen |= _entry_ids(end.before)
    _add_stretch(history.read_usage_span(loaded.context, seen), points, marks)
    points += _present_point(loaded, points)
    return history.thin_out(history.WindowHistory(points=tuple(points), marks=tuple(marks)))


def _add_stretch(
    span: history.UsageSpan, points: list[history.UsagePoint], marks: list[history.HistoryMark]
) -> None:
    if span.prune is not None:
        n_point = len(points) + span.prune.n_point
        marks.append(msgspec.structs.replace(span.prune, n_point=n_point))
    points += span.points


def _entry_ids(span: history.UsageSpan) -> set[str]:
    return {point.entry_id for point in span.points if point.entry_id is not None}


def _read_ended(loaded: Loaded, ref: CompactionRef, seen: AbstractSet[str]) -> EndedContext | None:
    session = loaded.session
    compaction = session.agent.read_compaction(session.lines, ref)
    if compaction is None:
        return None
    before = read_context_before(session, compaction, ref, loaded.reading.index)
    return EndedContext(compaction=compaction, before=history.read_usage_span(before, seen))


def _present_point(loaded: Loaded, points: list[history.UsagePoint]) -> list[history.UsagePoint]:
    """Give the present gauge, where it says something that no answer reported."""
    gauge = loaded.status.gauge
    used, is_reported = gauge.used_tokens, gauge.used_source == "reported"
    if used is None or (points and gauge.n_counted == 0 and is_reported):
        return []
    context = loaded.context
    last = context.items[-1:] if context.pruned is None else (*context.items[-1:], context.pruned)
    at_ms = max((message.at_ms for message in last if message.at_ms is not None), default=None)
    return [
        history.UsagePoint(at_ms=at_ms, n_tokens=used, is_estimated=not is_reported, entry_id=None)
    ]
