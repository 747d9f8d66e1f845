"""The gauge: how full the window is, by which figures, and where bands and triggers lie."""

import math
from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from ullage.core.config.settings import Policy
from ullage.core.gauge.window import Window
from ullage.core.transcript.agent_lines import share_text, short_tokens, write_gauge_line
from ullage.core.transcript.context import Context, ContextItem, list_rounds
from ullage.core.transcript.tokens import Count, count_items

UsedSource: TypeAlias = Literal["reported", "counted", "estimated", "unknown"]
SizeSource: TypeAlias = Literal["noted", "reported", "estimated"]
"""By the writer of a compaction, by the provider, or by that and a count of ours."""
Layer: TypeAlias = Literal["prune", "summarize", "full"]
LAYERS: tuple[Layer, ...] = ("prune", "summarize", "full")
"""Weakest first."""
DEFAULT_LAYER: Final[Literal["summarize"]] = "summarize"
"""What a user gets who names none, on the command line and in the editor."""
Band: TypeAlias = Literal["normal", "notice", "warning", "critical"]
"""How near the next trigger is: below the gauge line, above it, at a layer, at the last one."""
PROTECTED_TOOLS = ("skill", "memory_search", "memory_get", "gandiva_recall")
"""Their output is never pruned; a user may add tools, not take these away."""
TriggerName: TypeAlias = Literal[
    "checkpoint", "prune", "summarize", "full compaction", "agent compacts"
]
_TRIGGER_TEXTS: dict[TriggerName, str] = {
    "checkpoint": "a checkpoint",
    "prune": "a prune of old tool output",
    "summarize": "a summary of older messages",
    "full compaction": "a summary of nearly everything",
    "agent compacts": "the agent's own compaction",
}
PointSource: TypeAlias = Literal["default", "setting", "environment"]
"""The agent's own rule, its settings, a variable of the environment."""


class Trigger(msgspec.Struct, frozen=True, kw_only=True):
    """A size of the context at which something begins."""

    name: TriggerName
    at_tokens: int

    @property
    def text(self) -> str:
        """Say what begins there."""
        return _TRIGGER_TEXTS[self.name]


class CompactionPoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent compacts a session by itself."""

    at_tokens: int
    source: PointSource
    detail: str
    """The rule, the setting or the variable that the figure comes from."""


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How large a context was when it was compacted, or right after."""

    n_tokens: int
    source: SizeSource


class Gauge(msgspec.Struct, frozen=True, kw_only=True):
    used_tokens: int | None
    used_source: UsedSource
    n_reported: int
    """Tokens that the provider reported, part of `used_tokens`."""
    n_noted: int
    """Tokens that the last compaction or prune noted of its result, part of `used_tokens`."""
    n_counted: int
    """Tokens that we counted in what followed, part of `used_tokens`."""
    n_outside: int = 0
    """Tokens of the system prompt and the tools by an earlier report, part of `used_tokens`."""
    window: Window
    utilization: float | None
    """Share of the window that is used; above 1 where the context overflows."""
    agent_compacts_at: CompactionPoint | None = None
    """None where the agent never does, or is not known to."""

    @property
    def is_estimated(self) -> bool:
        """Whether a figure is no record."""
        return self.used_source != "reported" or not self.window.is_certain

    @property
    def own_point_tokens(self) -> int | None:
        """Where that is, in tokens."""
        return None if self.agent_compacts_at is None else self.agent_compacts_at.at_tokens


def measure(
    context: Context,
    window: Window,
    count: Count,
    own_point: CompactionPoint | None = None,
    read_beginning: Callable[[], Sequence[ContextItem]] = tuple,
) -> Gauge:
    """Measure a context by its last reported usage and by counting what followed.

    A usage from before the last compaction or prune says nothing any more. Without one, what
    that noted of its result serves, else everything is counted. What only the agent knows, its
    system prompt and tools, is missing then: it is what the first answer of the session's
    beginning, which is read for that alone, reported beyond its messages.
    """
    source, n_known, rest = _known_part(context)
    n_counted = count_items(rest, count)
    n_outside = 0
    if source == "counted" or _is_of_messages(source, context):
        n_outside = count_outside(read_beginning(), count)
    # By absurd settings the agent's own point is not within the window: then there is none.
    is_within = own_point is not None and 0 < own_point.at_tokens <= window.n_tokens
    used = None if source == "unknown" else n_known + n_counted + n_outside
    source = "estimated" if n_outside else source
    return Gauge(
        used_tokens=used,
        used_source=source,
        n_reported=n_known if source == "reported" else 0,
        n_noted=n_known if source == "estimated" else 0,
        n_counted=n_counted,
        n_outside=n_outside,
        window=window,
        utilization=None if used is None else used / window.n_tokens,
        agent_compacts_at=own_point if is_within else None,
    )


def size_at_end(context: Context, count: Count) -> Size | None:
    """Tell how large a context became by its last answer; None where none reported it."""
    source, n_known, rest = _known_part(context)
    if source != "reported":
        return None
    n_counted = count_items(rest, count)
    return Size(n_tokens=n_known + n_counted, source="estimated" if n_counted else "reported")


def size_at_start(context: Context, count: Count) -> Size | None:
    """Tell what the boundary left: what the first answer was sent, less what was said until then.

    None where no answer followed, or only one to a context that was pruned meanwhile.
    """
    items, boundary = context.items, context.boundary
    first = next((at for at, item in enumerate(items) if tells_usage(item)), None)
    usage = None if first is None else items[first].message.usage
    if first is None or usage is None or usage.n_sent == 0:
        return None
    if boundary is None or context.pruned is not None:
        return None
    answer = list_rounds(items[: first + 1])[-1:]
    before = items[: answer[0] if answer else first]
    said = tuple(item for item in before if _follows_boundary(item, boundary.entry_id))
    n_said = count_items(said, count)
    return Size(n_tokens=max(0, usage.n_sent - n_said), source="estimated" if said else "reported")


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


def _is_of_messages(source: UsedSource, context: Context) -> bool:
    """Whether what was noted leaves out the system prompt and the tools."""
    boundary = context.boundary
    is_noted = source == "estimated" and context.pruned is None
    return is_noted and boundary is not None and boundary.is_after_of_messages


def count_outside(beginning: Sequence[ContextItem], count: Count) -> int:
    """Count what the first reported request of some messages held beyond them.

    The first is the shortest: the longer a request, the more the provider's tokenizer and ours
    differ over it.
    """
    first = next((at for at, item in enumerate(beginning) if tells_usage(item)), None)
    usage = None if first is None else beginning[first].message.usage
    if first is None or usage is None:
        return 0
    n_sent = usage.n_input + usage.n_cache_read + usage.n_cache_write
    answer = list_rounds(beginning[: first + 1])[-1:]
    return max(0, n_sent - count_items(beginning[: answer[0] if answer else first], count))


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
    """Write the gauge in a few characters: `42%`, `~42%` where a figure is no record, `?`."""
    if gauge.utilization is None:
        return "?"
    return share_text(gauge.utilization, is_estimated=gauge.is_estimated)


def gauge_line(gauge: Gauge, *, is_checkpoint_saved: bool) -> str:
    """Write the gauge for the agent itself."""
    return write_gauge_line(
        gauge.utilization,
        gauge.used_tokens,
        gauge.window.n_tokens,
        is_estimated=gauge.is_estimated,
        is_saved=is_checkpoint_saved,
    )


def tokens_text(n_before: int, n_after: int) -> str:
    return f"{short_tokens(n_before)} → {short_tokens(n_after)}"


def band_of(utilization: float | None, policy: Policy) -> Band:
    if utilization is None or utilization < policy.gauge_ratio:
        return "normal"
    if utilization < policy.checkpoint_ratio:
        return "notice"
    return "warning" if utilization < policy.full_ratio else "critical"


def ratio_at(window_tokens: int, ratio: float) -> int:
    """Give the least number of tokens that is at least a share of the window."""
    # Floats miss whole products by a hair, as 100 * 0.55 does: 55.00000000000001.
    return math.ceil(round(window_tokens * ratio, 6))


def reserve_at(window_tokens: int, policy: Policy) -> int | None:
    """Give the size at which the reserve is touched; None where the window is all reserve.

    `tokens >= window - reserveTokensFloor - softThresholdTokens`, 176,000 of 200,000
    (docs/design/gauge.md, "Reserve").
    """
    end = policy.reserve_before_tokens or window_tokens
    at_tokens = end - policy.reserve_tokens - policy.soft_tokens
    return at_tokens if at_tokens > 0 else None


def summary_at(window_tokens: int, policy: Policy) -> int:
    """Give the size at which a summary is due: its own threshold, or the reserve before it."""
    at_tokens = ratio_at(window_tokens, policy.summarize_ratio)
    at_reserve = reserve_at(window_tokens, policy)
    return at_tokens if at_reserve is None else min(at_tokens, at_reserve)


def triggers(gauge: Gauge, policy: Policy) -> tuple[Trigger, ...]:
    """List what begins at which size of the context, nearest first."""
    window, own = gauge.window.n_tokens, gauge.agent_compacts_at
    points: dict[TriggerName, int] = {"checkpoint": ratio_at(window, policy.checkpoint_ratio)}
    if policy.is_prune_enabled:
        points["prune"] = ratio_at(window, policy.prune_ratio)
    points["summarize"] = summary_at(window, policy)
    points["full compaction"] = ratio_at(window, policy.full_ratio)
    if own is not None:
        points["agent compacts"] = own.at_tokens
    ordered = sorted(points.items(), key=lambda point: point[1])
    return tuple(Trigger(name=name, at_tokens=at_tokens) for name, at_tokens in ordered)


def next_trigger(gauge: Gauge, policy: Policy) -> Trigger | None:
    """Give the nearest one ahead; None above the last one, or where the gauge is unknown."""
    used = gauge.used_tokens
    if used is None:
        return None
    return next((each for each in triggers(gauge, policy) if each.at_tokens > used), None)


def protected_tokens(layer: Layer, window_tokens: int, policy: Policy) -> int:
    """Give how much of the recent context a layer leaves alone, at most half the window."""
    protect = {
        "prune": policy.summarize_protect_tokens,
        "summarize": policy.summarize_protect_tokens,
        "full": policy.full_protect_tokens,
    }[layer]
    return min(protect, window_tokens // 2)
