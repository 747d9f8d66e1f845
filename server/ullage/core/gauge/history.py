"""How full the window was over time: points of reported usage, thinned without losing extremes."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise, takewhile
from typing import Literal

import msgspec

from ullage.core.gauge.gauge import tells_usage
from ullage.core.transcript.context import Compaction, Context, ContextItem, PruneRecord

MAX_POINTS = 1000
"""More than a plot has pixels to show them apart (chosen)."""


class UsagePoint(msgspec.Struct, frozen=True, kw_only=True):
    at_ms: int | None
    n_tokens: int
    is_estimated: bool
    entry_id: str | None
    """The entry that reported it; None for what was measured since."""


class HistoryMark(msgspec.Struct, frozen=True, kw_only=True):
    """A compaction or a prune between two points."""

    kind: Literal["compaction", "prune"]
    n_point: int
    """Index of the first point after it; the number of points where none has followed."""
    at_ms: int | None
    layer: str | None
    trigger: str | None
    n_tokens_before: int | None
    n_tokens_after: int | None


class WindowHistory(msgspec.Struct, frozen=True, kw_only=True):
    points: tuple[UsagePoint, ...]
    marks: tuple[HistoryMark, ...]


class UsageSpan(msgspec.Struct, frozen=True, kw_only=True):
    """What was reported in one context, from one compaction to the next."""

    points: tuple[UsagePoint, ...]
    prune: HistoryMark | None
    """The last prune in it."""


def read_usage_span(context: Context, seen: AbstractSet[str]) -> UsageSpan:
    """List the usage that answers reported since the last compaction.

    What was reported before a prune was true then. In a pruned context, entries that earlier
    contexts reported (`seen`) are those that a compaction kept.
    """
    items, pruned = context.items, context.pruned
    since = _usage_points(item for item in items if tells_usage(item))
    if pruned is None:
        return UsageSpan(points=tuple(since), prune=None)
    earlier = takewhile(lambda item: not tells_usage(item), items)
    before = _usage_points(item for item in earlier if item.entry_id not in seen)
    if before and before[-1].n_tokens == pruned.n_tokens_after:
        # Claude Code's copy lets the last answer report what the pruned context has.
        before.pop()
    return UsageSpan(points=(*before, *since), prune=mark_change(pruned, len(before)))


def _usage_points(items: Iterable[ContextItem]) -> list[UsagePoint]:
    """List the usage that answers reported; an answer counts once."""
    points: list[UsagePoint] = []
    last_answer: str | None = None
    for item in items:
        usage, answer = item.message.usage, item.message.answer_id
        if usage is None:
            continue
        point = UsagePoint(
            at_ms=item.at_ms,
            n_tokens=usage.n_total,
            is_estimated=False,
            entry_id=item.entry_id,
        )
        if points and answer is not None and answer == last_answer:
            points[-1] = point
        else:
            points.append(point)
        last_answer = answer
    return points


def mark_change(change: Compaction | PruneRecord, n_point: int) -> HistoryMark:
    compaction = change if isinstance(change, Compaction) else None
    return HistoryMark(
        kind="compaction" if compaction else "prune",
        n_point=n_point,
        at_ms=change.at_ms,
        layer=compaction and compaction.layer,
        trigger=compaction and compaction.trigger,
        n_tokens_before=change.n_tokens_before,
        n_tokens_after=change.n_tokens_after,
    )


def thin_out(history: WindowHistory, max_points: int = MAX_POINTS) -> WindowHistory:
    """Keep at most `max_points`: the lowest and highest of each part, and those beside marks."""
    n_points = len(history.points)
    if n_points <= max_points:
        return history
    kept = {0, n_points - 1}
    for mark in history.marks[-(max_points // 4) :]:
        kept.update(at for at in (mark.n_point - 1, mark.n_point) if 0 <= at < n_points)
    n_stretches = max(1, (max_points - len(kept)) // 2)
    edges = [n_points * number // n_stretches for number in range(n_stretches + 1)]
    tokens = [point.n_tokens for point in history.points]
    for start, end in pairwise(edges):
        kept.add(min(range(start, end), key=tokens.__getitem__))
        kept.add(max(range(start, end), key=tokens.__getitem__))
    order = sorted(kept)
    places = {old: new for new, old in enumerate(order)}
    return WindowHistory(
        points=tuple(history.points[at] for at in order),
        marks=tuple(
            msgspec.structs.replace(mark, n_point=_place(mark.n_point, order, places))
            for mark in history.marks
        ),
    )


def _place(n_point: int, order: Sequence[int], places: dict[int, int]) -> int:
    """Give the new index of a point, or of the first one after it that was kept."""
    place = places.get(n_point)
    if place is not None:
        return place
    return next((new for new, old in enumerate(order) if old > n_point), len(order))
