"""What dreams, reviews and backfills tell: as JSON, and in words for people."""

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

import msgspec

from ullage.app.dream.backfill import BackfillPlan, BackfillResult
from ullage.app.dream.dream import DreamResult
from ullage.app.dream.review import ReviewPlan, WaitingItem
from ullage.core.memory.inbox import InboxItem, Section
from ullage.core.memory.origin import ORIGIN_WORDS, Origin
from ullage.core.text.prose import plural
from ullage.store.memory.change_records import MemoryChange
from ullage.store.memory.places import DREAMS, MEMORY

_INDENT = "    "


class ItemReport(msgspec.Struct, frozen=True, kw_only=True):
    """An item of the inbox."""

    id: str
    day: str
    title: str
    finding: str
    section: Section
    """Of `MEMORY.md`."""
    action: str
    source: str
    score: str
    reason: str
    replaces: tuple[str, ...]


class WaitingReport(msgspec.Struct, frozen=True, kw_only=True):
    """An item that waits, with its place in `DREAMS.md`."""

    number: int
    """As it is listed, from 1."""
    item: ItemReport
    origin: Origin
    line: int


class InboxReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage memory review --json`."""

    waiting: tuple[WaitingReport, ...]


class ReviewReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a review that was made."""

    accepted: tuple[str, ...]
    replaced: tuple[str, ...]
    rejected: tuple[str, ...]
    known: tuple[str, ...]
    """Accepted, though `MEMORY.md` says it already."""
    change: str
    """The change that `ullage memory undo` takes back."""
    n_waiting: int


class MemoryUndoReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage memory undo --json`."""

    what: str
    files: tuple[str, ...]
    notes: tuple[str, ...]


class DreamReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage memory dream --json`."""

    cause: str | None
    """Null where nothing was due."""
    n_logs: int
    n_statements: int
    n_unknown: int
    """Points that are not known as a person's or an agent's, and were not looked at."""
    proposed: tuple[ItemReport, ...]
    applied: tuple[str, ...]
    notes: tuple[str, ...]


class BackfillReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage memory backfill --json`."""

    n_sessions: int
    """Read, or to be read by a dry run."""
    n_read_before: int
    size_bytes: int
    proposed: tuple[ItemReport, ...]
    unreadable: tuple[str, ...]


NOTHING_DUE = DreamReport(
    cause=None, n_logs=0, n_statements=0, n_unknown=0, proposed=(), applied=(), notes=()
)


def report_inbox(waiting: Iterable[WaitingItem]) -> InboxReport:
    return InboxReport(
        waiting=tuple(
            WaitingReport(
                number=number,
                # By the words in the file, some of which may not be shown.
                item=msgspec.structs.replace(report_item(each.item), id=each.id),
                origin=each.origin,
                line=each.line,
            )
            for number, each in enumerate(waiting, 1)
        )
    )


def report_item(item: InboxItem) -> ItemReport:
    return ItemReport(
        id=item.item_id,
        day=item.day,
        title=item.title,
        finding=item.finding,
        section=item.section,
        action=item.action,
        source=item.source,
        score=item.score,
        reason=item.reason,
        replaces=item.replaces,
    )


def report_review(plan: ReviewPlan, change: MemoryChange, n_waiting: int) -> ReviewReport:
    outcome = plan.outcome
    return ReviewReport(
        accepted=tuple(line.text for line in outcome.accepted),
        replaced=outcome.replaced,
        rejected=outcome.rejected,
        known=outcome.known,
        change=change.change_id,
        n_waiting=n_waiting,
    )


def report_undo(change: MemoryChange) -> MemoryUndoReport:
    return MemoryUndoReport(
        what=change.what, files=tuple(file.path for file in change.files), notes=change.notes
    )


def report_dream(result: DreamResult) -> DreamReport:
    return DreamReport(
        cause=result.cause,
        n_logs=result.n_logs,
        n_statements=result.n_statements,
        n_unknown=result.n_unknown,
        proposed=tuple(map(report_item, result.items)),
        applied=result.applied,
        notes=result.notes,
    )


def report_backfill(plan: BackfillPlan, result: BackfillResult | None) -> BackfillReport:
    return BackfillReport(
        n_sessions=len(plan.sessions) if result is None else result.n_sessions,
        n_read_before=plan.n_read_before,
        size_bytes=plan.size_bytes,
        proposed=() if result is None else tuple(map(report_item, result.items)),
        unreadable=() if result is None else result.unreadable,
    )


def inbox_text(report: InboxReport, n_columns: int) -> str:
    """List what waits, each item with all that speaks for it."""
    if not report.waiting:
        return f"Nothing waits in {DREAMS}"
    parts = ["\n".join(_write_waiting(each, n_columns)) for each in report.waiting]
    return "\n\n".join((f"{plural(len(parts), 'item')} in {DREAMS}", *parts))


def plan_text(plan: ReviewPlan) -> str:
    """Show what a review changes, line by line."""
    outcome = plan.outcome
    lines = [f"{MEMORY}", *(f"- {line}" for line in outcome.replaced)]
    lines += [f"+ {line.text}  ({line.section})" for line in outcome.accepted]
    lines += [f"= {text}  (stands there already)" for text in outcome.known]
    if len(lines) == 1:
        lines = []
    lines += [f"x {text}  (rejected, will not come again)" for text in outcome.rejected]
    return "\n".join(lines)


def dream_text(result: DreamResult, n_columns: int) -> str:
    """Tell what a dream came to."""
    read = f"{plural(result.n_logs, 'daily log')}, {plural(result.n_statements, 'point')}"
    lines = [f"Read {read}"]
    if not result.n_logs:
        lines = ["There is no daily log of these days: nothing was read"]
    lines += _tell_proposed(result.items, n_columns)
    lines += [f"✓ Applied unread, as you set it: {text}" for text in result.applied]
    if result.n_unknown:
        lines.append(
            f"Note: {plural(result.n_unknown, 'point')} there not looked at: not known as typed by"
            " you in a session, nor an agent's. `ullage memory store` keeps what you write by hand"
        )
    lines += [f"Note: {note}" for note in result.notes]
    return "\n".join(lines)


def backfill_text(result: BackfillResult, n_columns: int) -> str:
    lines = [f"Read {plural(result.n_sessions, 'session')}"]
    lines += _tell_proposed(result.items, n_columns)
    lines += [f"Note: not read: {each}" for each in result.unreadable]
    return "\n".join(lines)


def _tell_proposed(items: Sequence[InboxItem], n_columns: int) -> Iterator[str]:
    if not items:
        yield "Nothing new lasts: nothing was proposed"
        return
    for item in items:
        yield from wrap(item.finding, n_columns, initial_indent="  + ", subsequent_indent=_INDENT)
    yield f"✓ {plural(len(items), 'item')} added to {DREAMS}: ullage memory review"


def _write_waiting(each: WaitingReport, n_columns: int) -> Iterator[str]:
    item, number = each.item, f"{each.number}. "
    yield from wrap(
        item.finding,
        n_columns,
        initial_indent=number,
        subsequent_indent=" " * len(number),
        break_on_hyphens=False,
    )
    told = (
        f"{item.id} · {ORIGIN_WORDS[each.origin]} · {item.day} {item.title}",
        item.action,
        f"from {item.source}" if item.source else "",
        f"score {item.score}: {item.reason}" if item.reason else "",
        *(f"replaces: {line}" for line in item.replaces),
    )
    for line in filter(None, told):
        yield from wrap(
            line,
            n_columns,
            initial_indent=_INDENT,
            subsequent_indent=_INDENT + "  ",
            break_on_hyphens=False,
        )
