"""The gauge: how full the context window is, and where each figure comes from."""

from typing import Literal, TypeAlias

import msgspec

from ullage.core.gauge.policy import Window
from ullage.core.transcript.context import Context, ContextItem
from ullage.core.transcript.tokens import Count, count_items

UsedSource: TypeAlias = Literal["reported", "counted", "estimated", "unknown"]


class Gauge(msgspec.Struct, frozen=True, kw_only=True):
    used_tokens: int | None
    used_source: UsedSource
    n_reported: int
    """Tokens that the provider reported, part of `used_tokens`."""
    n_noted: int
    """Tokens that the last compaction or prune noted of its result, part of `used_tokens`."""
    n_counted: int
    """Tokens that we counted in what followed, part of `used_tokens`."""
    window: Window
    utilization: float | None
    """Share of the window that is used; above 1 where the context overflows."""


def measure(context: Context, window: Window, count: Count) -> Gauge:
    """Measure a context by its last reported usage and by counting what followed.

    A usage from before the last compaction or prune says nothing any more. Without one, what
    that noted of its result serves, else everything is counted; what only the agent knows, its
    system prompt and tools, is missing then.
    """
    source, n_known, rest = _known_part(context)
    n_counted = count_items(rest, count)
    used = None if source == "unknown" else n_known + n_counted
    return Gauge(
        used_tokens=used,
        used_source=source,
        n_reported=n_known if source == "reported" else 0,
        n_noted=n_known if source == "estimated" else 0,
        n_counted=n_counted,
        window=window,
        utilization=None if used is None else used / window.n_tokens,
    )


def _known_part(context: Context) -> tuple[UsedSource, int, tuple[ContextItem, ...]]:
    """Give the tokens that somebody told, and the items that are not part of them."""
    items = context.items
    last = next((at for at in reversed(range(len(items))) if tells_usage(items[at])), None)
    if last is not None:
        usage = items[last].message.usage
        return "reported", usage.n_total if usage else 0, _written_after_request(items, last)
    boundary, pruned = context.boundary, context.pruned
    if pruned is not None and pruned.n_tokens_after is not None:
        later = tuple(item for item in items if item.is_after_boundary)
        return "estimated", pruned.n_tokens_after, later
    if pruned is None and boundary is not None and boundary.n_tokens_after is not None:
        later = tuple(item for item in items if _follows_boundary(item, boundary.entry_id))
        return "estimated", boundary.n_tokens_after, later
    if boundary is not None and boundary.is_opaque:
        # What the compaction left cannot be read, as with Codex's encrypted ones.
        return "unknown", 0, ()
    return "counted", 0, items


def _written_after_request(items: tuple[ContextItem, ...], last: int) -> tuple[ContextItem, ...]:
    """List what an answer's usage does not hold.

    An answer may stand on several entries with results of its calls between them: those came
    after the request that the usage tells of.
    """
    answer_id = items[last].message.answer_id
    if answer_id is None:
        return items[last + 1 :]
    first = next(at for at in range(last + 1) if items[at].message.answer_id == answer_id)
    return tuple(item for item in items[first:] if item.message.answer_id != answer_id)


def tells_usage(item: ContextItem) -> bool:
    """Whether a message reports usage that no compaction or prune has made stale."""
    return item.is_after_boundary and item.message.usage is not None


def _follows_boundary(item: ContextItem, boundary_id: str) -> bool:
    """Whether an item came later than the figure that the boundary noted.

    What an agent injects at once, such as reminders, is part of that figure.
    """
    return (
        item.is_after_boundary
        and item.entry_id != boundary_id
        and item.category in ("user", "assistant", "tool results")
    )


def gauge_text(gauge: Gauge) -> str:
    """Write the gauge in a few characters: `42%`, `~42%` where not reported, `?`."""
    if gauge.utilization is None:
        return "?"
    return share_text(gauge.utilization, is_estimated=gauge.used_source != "reported")


def share_text(share: float, *, is_estimated: bool) -> str:
    """Write a share of the window; here alone it is rounded, so that no two places differ."""
    return f"{'~' if is_estimated else ''}{share:.0%}"


def gauge_line(gauge: Gauge, *, is_checkpoint_saved: bool) -> str:
    """Write the gauge for the agent itself (docs/design/gauge.md, "The line for the agent")."""
    used = "?" if gauge.used_tokens is None else short_tokens(gauge.used_tokens)
    line = f"[Context: {gauge_text(gauge)} | {used}/{short_tokens(gauge.window.n_tokens)} tokens"
    return f"{line} | Checkpoint saved]" if is_checkpoint_saved else f"{line}]"


def short_tokens(n_tokens: int) -> str:
    """Write a number of tokens in thousands or millions: `850`, `162k`, `1.0M`."""
    if n_tokens < 1000:
        return str(n_tokens)
    if n_tokens < 999_500:
        return f"{n_tokens / 1000:.0f}k"
    return f"{n_tokens / 1_000_000:.1f}M"


def tokens_text(n_before: int, n_after: int) -> str:
    return f"{short_tokens(n_before)} → {short_tokens(n_after)}"
