"""What dreams, reviews and backfills tell: as JSON, and in words for people."""

from collections.abc import Iterable, Iterator, Sequence
from textwrap import fill

import msgspec

from ullage.app.dream.backfill import BackfillPlan, BackfillResult
from ullage.app.dream.dream import DreamResult
from ullage.app.dream.review import ReviewPlan, WaitingItem
from ullage.core.memory.inbox import InboxItem, Section, place_items
from ullage.core.memory.origin import ORIGIN_WORDS, Origin, normalize_line
from ullage.core.text.markdown import read_parts
from ullage.core.text.prose import plural
from ullage.errors import UllageError
from ullage.store.memory.places import DREAMS, MEMORY

_INDENT = "    "
_MAX_LINES = 10
"""Of headings that are no items, that are named (chosen)."""


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
    unread_lines: tuple[int, ...] = ()
    """Of headings of `DREAMS.md` that are no items, from 1."""


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


def report_inbox(waiting: Iterable[WaitingItem], inbox: str = "") -> InboxReport:
    """Report what waits; `inbox` is the text of `DREAMS.md`, where its other headings matter."""
    items = {place.first_line for place in place_items(inbox)}
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
        ),
        unread_lines=tuple(
            at + 1
            for at, line in enumerate(inbox.split("\n"))
            if line.startswith("### ") and at not in items
        ),
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
    n_items = len(report.waiting)
    begin = f"{plural(n_items, 'item')} in {DREAMS}" if n_items else f"Nothing waits in {DREAMS}"
    parts = [
        "\n".join(_write_waiting(each, f"{each.number}. ", n_columns)) for each in report.waiting
    ]
    return "\n\n".join((begin, *parts, *filter(None, [unread_text(report, n_columns)])))


def unread_text(report: InboxReport, n_columns: int) -> str:
    """Tell of headings of the inbox that are no items, as one that was edited; empty if none is."""
    n_unread = len(report.unread_lines)
    if not n_unread:
        return ""
    lines = ", ".join(map(str, report.unread_lines[:_MAX_LINES]))
    rest = f" and {n_unread - _MAX_LINES:,} more" if n_unread > _MAX_LINES else ""
    are = "is no item" if n_unread == 1 else "are no items"
    where = "line" if n_unread == 1 else "lines"
    text = (
        f"Note: {plural(n_unread, 'heading')} of {DREAMS} {are}: {where} {lines}{rest}. An item"
        " stands below “## Candidate Memory Items (Pending Review)”, begins with “### [YYYY-MM-DD"
        " Title]” and has a line “Finding: …”"
    )
    return _wrap(text, "", n_columns)


def item_text(
    each: WaitingReport, n_items: int, plan: ReviewPlan | UllageError, n_columns: int
) -> str:
    """Show an item as it is asked about, with what accepting it does, or why that is refused."""
    if isinstance(plan, UllageError):
        effects = [f"cannot be accepted: {plan}"]
    else:
        outcome = plan.outcome
        effects = [f"goes to {_tell_place(plan, line.text)}" for line in outcome.accepted]
        effects += [f"stands in {MEMORY} already" for _ in outcome.known]
        effects += [f"leaves {MEMORY}: {old}" for old in outcome.replaced]
        effects += [f"leaves {DREAMS} with it: {text}" for text in outcome.settled]
    mark = f"{each.number} of {n_items:,}: "
    shown = "\n".join(_write_waiting(each, mark, n_columns))
    return "\n".join((shown, *(_wrap(effect, f"{_INDENT}→ ", n_columns) for effect in effects)))


def plan_text(plan: ReviewPlan, n_columns: int) -> str:
    """Show what a review changes, line by line."""
    outcome = plan.outcome
    lines = [("- ", old) for old in outcome.replaced]
    lines += [
        ("+ ", f"{line.text}  (to {_tell_place(plan, line.text)})") for line in outcome.accepted
    ]
    lines += [("= ", f"{text}  (stands in {MEMORY} already)") for text in outcome.known]
    lines += [("x ", f"{text}  (leaves {DREAMS}: replaced)") for text in outcome.settled]
    lines += [("x ", f"{text}  (rejected, will not come again)") for text in outcome.rejected]
    return "\n".join(_wrap(text, mark, n_columns) for mark, text in lines)


def decided_text(what: str, n_changes: int, n_waiting: int, n_columns: int) -> str:
    """Tell what a review came to, and how it is taken back."""
    rest = f"; {n_waiting:,} still waiting" if n_waiting else ""
    if not n_changes:
        return f"Nothing was changed{what and f': {what}'}{rest}"
    back = "takes it back" if n_changes == 1 else "takes them back, the last first"
    return _wrap(f"{what}{rest}. `ullage memory undo` {back}", "✓ ", n_columns)


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
        yield _wrap(item.finding, "  + ", n_columns)
    yield f"✓ {plural(len(items), 'item')} added to {DREAMS}: ullage memory review"


def _write_waiting(each: WaitingReport, mark: str, n_columns: int) -> Iterator[str]:
    item = each.item
    yield _wrap(item.finding, mark, n_columns)
    told = (
        f"{item.id} · {ORIGIN_WORDS[each.origin]} · {item.day} {item.title}",
        item.action,
        f"from {item.source}" if item.source else "",
        f"score {item.score}: {item.reason}" if item.reason else "",
        *(f"replaces: {line}" for line in item.replaces),
    )
    for line in filter(None, told):
        yield _wrap(line, _INDENT, n_columns, n_more=2)


def _tell_place(plan: ReviewPlan, text: str) -> str:
    """Tell the heading of `MEMORY.md` below which a line will stand."""
    page, heading = plan.outcome.texts.memory, ""
    for part in read_parts(page):
        words = page[part.start : part.end]
        if part.kind == "heading":
            heading = words.strip("# \t")
        elif normalize_line(words) == normalize_line(text):
            break
    return f"“{heading}” in {MEMORY}"


def _wrap(text: str, mark: str, n_columns: int, *, n_more: int = 0) -> str:
    """Wrap a text at words, its further lines that many columns behind its first word."""
    return fill(
        text,
        n_columns,
        initial_indent=mark,
        subsequent_indent=" " * (len(mark) + n_more),
        break_on_hyphens=False,
    )
