"""The decision: what is done about a context now, from its size, the policy and what was tried.

One pure function for all three triggers. The caller does what it says, measures the context again
and asks once more with what was tried, until nothing is due. Which layer is due where, and what a
cascade may do, is in docs/design/layers.md, "The three layers" and "The cascade".
"""

from typing import Literal, TypeAlias

import msgspec

from ullage.core.change.breaker import Breaker, begin_epoch, is_tripped, refuse_run
from ullage.core.config.settings import Policy
from ullage.core.gauge.gauge import LAYERS, Layer, ratio_at, summary_at
from ullage.core.gauge.status import is_death_spiral

Occasion: TypeAlias = Literal["manual", "threshold", "overflow"]
"""The user asks, a turn ended, the provider refused the context as too large."""

CONTEXT_OVERFLOW = "context_overflow"
"""Kind of the error after a retry that did not help."""
READ_ONLY_SKIPS = (
    "Sandbox read-only mode: skipping memory flush",
    "Sandbox read-only mode: skipping compaction",
)
READ_ONLY_PRESSURE = (
    "Context Window pressure high in read-only sandbox; consider increasing contextWindow"
)
"""Word for word those of docs/design/layers.md, "Read-only mode"."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What was done in this cascade."""

    what: Literal["prune", "summarize", "full", "retry"]
    n_freed: int = 0
    """By the metric, before minus after; 0 also for a layer that had nothing to do."""


class Cascade(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a cascade: what a decision needs besides the policy and the time."""

    occasion: Occasion
    used_tokens: int | None
    """By the gauge, measured again after each step; None where it is unknown."""
    window_tokens: int
    tool_tokens: int
    """Output of tools in the context (`tool_outputs.count_tool_output_tokens`)."""
    n_compactions: int
    """All of the session's, also those of the agent."""
    window_doubt: str = ""
    """Why nobody may be told to stop by this window, nor anything happen by itself."""
    breaker: Breaker = Breaker()
    started_tokens: int | None = None
    """`used_tokens` when the cascade began; None for the first decision."""
    tried: tuple[Step, ...] = ()
    """Oldest first; those of an overflow include its retry."""
    asked_layer: Layer = "summarize"
    """What the user asked for; only for `manual`."""
    is_auto_on: bool | None = None
    """The session's own switch; None where the policy decides."""
    confirmed_layer: Layer | None = None
    """The strongest layer that the user said yes to in this cascade."""
    is_in_memory: bool = False
    """Whether a runtime holds the messages: a prune only changes what is sent, so that it needs
    neither asking nor waiting, and no command of ours compacts them."""

    @property
    def tried_kinds(self) -> frozenset[str]:
        return frozenset(step.what for step in self.tried)

    def after(self, step: Step, *, tool_tokens: int) -> "Cascade":
        """Give the state after a step."""
        used = self.used_tokens
        return msgspec.structs.replace(
            self,
            used_tokens=None if used is None else max(0, used - step.n_freed),
            tool_tokens=tool_tokens,
            tried=(*self.tried, step),
        )


class Idle(msgspec.Struct, frozen=True, kw_only=True, tag="idle"):
    """Nothing is done now."""

    reason: str


class Prune(msgspec.Struct, frozen=True, kw_only=True, tag="prune"):
    reason: str


class Compact(msgspec.Struct, frozen=True, kw_only=True, tag="compact"):
    layer: Layer
    reason: str
    advice: str | None
    """What to tell the user of a session that is compacted over and over."""


class Ask(msgspec.Struct, frozen=True, kw_only=True, tag="ask"):
    """The same as `Prune` or `Compact`, once the user agrees."""

    layer: Layer
    reason: str
    advice: str | None


class Warn(msgspec.Struct, frozen=True, kw_only=True, tag="warn"):
    """Tell the user once; `breaker.record_warning` remembers it."""

    reason: str


class Retry(msgspec.Struct, frozen=True, kw_only=True, tag="retry"):
    """Send the request again with the smaller context."""

    reason: str


class Overflowed(msgspec.Struct, frozen=True, kw_only=True, tag="overflowed"):
    """Nothing more can be done by itself: an error of the kind `context_overflow`."""

    reason: str


Action: TypeAlias = Idle | Prune | Compact | Ask | Warn | Retry | Overflowed


def decide(cascade: Cascade, policy: Policy, now_ms: int) -> Action:
    """Decide the next step of a cascade, or that there is none."""
    current = msgspec.structs.replace(
        cascade, breaker=begin_epoch(cascade.breaker, cascade.n_compactions)
    )
    match cascade.occasion:
        case "manual":
            return _decide_manual(current, policy)
        case "threshold":
            return _decide_threshold(current, policy, now_ms)
        case "overflow":
            return _decide_overflow(current, policy, now_ms)


def find_due_layer(cascade: Cascade, policy: Policy) -> Layer | None:
    """Give the layer that is due by the figures alone, without limits and switches."""
    used, window = cascade.used_tokens, cascade.window_tokens
    if used is None:
        return None
    compaction = find_due_compaction(used, window, policy)
    is_high = used >= ratio_at(window, policy.prune_ratio)
    if (is_high or compaction) and _is_prune_due(cascade, policy):
        return "prune"
    started = cascade.started_tokens if cascade.started_tokens is not None else used
    if any(step.what == "prune" and step.n_freed > 0 for step in cascade.tried):
        if not is_high:
            return None
        if compaction is None and find_due_compaction(started, window, policy):
            compaction = "summarize"
    if compaction is None or not _is_stronger(compaction, cascade):
        return None
    return compaction


def read_only_warning_at(window: int, policy: Policy) -> int:
    """Give the size at which the user is warned that a read-only workspace cannot be compacted."""
    due_at = summary_at(window, policy)
    return min(due_at, policy.warn_at_tokens or due_at)


def find_due_compaction(used: int, window: int, policy: Policy) -> Layer | None:
    """Give the compaction that is due at a size: no cascade that begins there goes beyond it."""
    if used >= ratio_at(window, policy.full_ratio):
        return "full"
    return "summarize" if used >= summary_at(window, policy) else None


def _is_prune_due(cascade: Cascade, policy: Policy) -> bool:
    return (
        policy.is_prune_enabled
        and cascade.tool_tokens > policy.prune_tool_tokens
        and "prune" not in cascade.tried_kinds
    )


def _is_stronger(layer: Layer, cascade: Cascade) -> bool:
    """Whether a compaction was not yet tried, nor a stronger one."""
    return cascade.tried_kinds.isdisjoint(LAYERS[LAYERS.index(layer) :])


def _decide_manual(cascade: Cascade, policy: Policy) -> Action:
    layer = cascade.asked_layer
    if cascade.tried:
        return Idle(reason=describe_usage(cascade))
    if layer == "prune" and (cascade.is_in_memory or not policy.is_read_only):
        return Prune(reason="you asked for it")
    if policy.is_read_only:
        return Idle(reason="the workspace is read-only, so that nothing can be compacted")
    return _compact(layer, "you asked for it", cascade, policy)


def _decide_threshold(cascade: Cascade, policy: Policy, now_ms: int) -> Action:
    used, usage = cascade.used_tokens, describe_usage(cascade)
    if used is None:
        return Idle(reason="how full the window is cannot be told")
    is_auto_on = _is_auto_on(cascade, policy)
    if is_auto_on and _is_memory_prune_due(cascade, policy):
        return Prune(reason=usage)
    if policy.is_read_only:
        return _decide_read_only(cascade, used, policy)
    layer = find_due_layer(cascade, policy)
    objection = cascade.window_doubt or ("" if is_auto_on else "automatic compaction is off")
    if layer is None or objection:
        return Idle(reason=usage if layer is None else f"{usage}; {objection}")
    refusal = _refuse(cascade, layer, used, policy, now_ms)
    if refusal is None:
        return _act_or_ask(cascade, layer, policy)
    if layer == "prune":
        skipped = (*cascade.tried, Step(what="prune"))
        without_prune = msgspec.structs.replace(cascade, tried=skipped)
        if find_due_layer(without_prune, policy) is not None:
            # Pruning has to wait, but a compaction is due all the same.
            return _decide_threshold(without_prune, policy, now_ms)
    is_grave = (
        layer == "full"
        or is_tripped(cascade.breaker, now_ms)
        or _is_limit_reached(cascade, layer, policy)
    )
    reason = f"{usage}: {refusal}"
    if is_grave and not cascade.breaker.is_warned:
        return Warn(reason=reason)
    return Idle(reason=reason)


def _act_or_ask(cascade: Cascade, layer: Layer, policy: Policy) -> Action:
    reason = describe_usage(cascade)
    asks_first = policy.notifies_before_auto or _is_limit_reached(cascade, layer, policy)
    confirmed = cascade.confirmed_layer
    is_confirmed = confirmed is not None and LAYERS.index(layer) <= LAYERS.index(confirmed)
    if asks_first and not is_confirmed:
        return Ask(layer=layer, reason=reason, advice=_advise(cascade, policy))
    if layer == "prune":
        return Prune(reason=reason)
    return _compact(layer, reason, cascade, policy)


def _compact(layer: Layer, reason: str, cascade: Cascade, policy: Policy) -> Compact:
    return Compact(layer=layer, reason=reason, advice=_advise(cascade, policy))


def _is_memory_prune_due(cascade: Cascade, policy: Policy) -> bool:
    """Whether what is sent is pruned, whatever its size: before each request, first of all."""
    is_in_memory = cascade.is_in_memory or policy.is_read_only
    is_open = policy.is_prune_enabled and "prune" not in cascade.tried_kinds
    return is_in_memory and is_open and cascade.tool_tokens > 0


def _decide_read_only(cascade: Cascade, used: int, policy: Policy) -> Action:
    """Warn once where pruning in memory was not enough."""
    is_full = used >= read_only_warning_at(cascade.window_tokens, policy)
    if is_full and not cascade.window_doubt and not cascade.breaker.is_warned:
        return Warn(reason=READ_ONLY_PRESSURE)
    return Idle(reason=f"{describe_usage(cascade)}; the workspace is read-only")


def _decide_overflow(cascade: Cascade, policy: Policy, now_ms: int) -> Action:
    """Free room, retry once, then give up (docs/design/layers.md, "Overflow").

    The user is not asked: the request failed, and the agent needs room to continue.

    The provider's word stands against a gauge that says otherwise. So pruning alone is enough
    only where the gauge had seen the window full and sees it below 80 % now; an overflow that
    comes again after that is compacted, with the same single retry.
    """
    last = cascade.tried[-1] if cascade.tried else None
    if last is not None and _is_worth_retry(last, cascade, policy):
        return Retry(reason=describe_usage(cascade))
    refusal = _refuse_overflow(cascade, policy, now_ms)
    if refusal is not None:
        return Overflowed(reason=f"the context overflows, {refusal}")
    if _is_prune_due(cascade, policy):
        return Prune(reason="the context overflows")
    return _compact("full", "the context overflows", cascade, policy)


def _is_worth_retry(last: Step, cascade: Cascade, policy: Policy) -> bool:
    if last.what != "prune":
        return last.what != "retry" and last.n_freed > 0
    used, started = cascade.used_tokens, cascade.started_tokens
    if used is None or started is None:
        return False
    window = cascade.window_tokens
    was_full = started >= ratio_at(window, policy.full_ratio)
    is_enough = was_full and used < ratio_at(window, policy.prune_ratio)
    # In a read-only workspace there is nothing stronger to try.
    return is_enough or (policy.is_read_only and last.n_freed > 0)


def _refuse_overflow(cascade: Cascade, policy: Policy, now_ms: int) -> str | None:
    if not _is_auto_on(cascade, policy):
        return "and automatic compaction is off: run `ullage compact`"
    if not cascade.tried_kinds.isdisjoint(("summarize", "full")):
        return (
            "and neither a prune nor a compaction makes room: the model's window is smaller than"
            " known, or the last messages alone are too large; start a new session from the"
            " checkpoint"
        )
    if _is_prune_due(cascade, policy):
        return None
    if policy.is_read_only:
        return "and a read-only workspace cannot be compacted"
    used = cascade.used_tokens or 0
    return _refuse(cascade, "full", used, policy, now_ms, is_overflow=True)


def _is_auto_on(cascade: Cascade, policy: Policy) -> bool:
    return policy.is_auto_enabled if cascade.is_auto_on is None else cascade.is_auto_on


def _is_limit_reached(cascade: Cascade, layer: Layer, policy: Policy) -> bool:
    """Whether automatic compaction has ended; pruning loses nothing and continues."""
    return layer != "prune" and cascade.n_compactions >= policy.max_auto_compactions


def _refuse(
    cascade: Cascade,
    layer: Layer,
    used: int,
    policy: Policy,
    now_ms: int,
    *,
    is_overflow: bool = False,
) -> str | None:
    if _is_limit_reached(cascade, layer, policy) and (is_overflow or not cascade.is_in_memory):
        by_hand = "" if cascade.is_in_memory else "run `ullage compact` yourself, or "
        return (
            f"the session was compacted {cascade.n_compactions} times, and automatic compaction"
            f" stops at {policy.max_auto_compactions}: {by_hand}start a new session from the"
            " checkpoint"
        )
    # In memory the user is asked from then on, as no command can be run instead.
    return refuse_run(cascade.breaker, layer, used, now_ms, is_overflow=is_overflow)


def _advise(cascade: Cascade, policy: Policy) -> str | None:
    n_compactions = cascade.n_compactions
    if is_death_spiral(n_compactions):
        return (
            f"death spiral: {n_compactions} compactions, and each summary is one of summaries;"
            " export the session and start a new one"
        )
    if n_compactions >= policy.warn_at_compaction:
        return f"the session was compacted {n_compactions} times: consider a new one"
    return None


def describe_usage(cascade: Cascade) -> str:
    """Say how full the window is, as each decision begins."""
    used, window = cascade.used_tokens, cascade.window_tokens
    if used is None:
        return f"of {window:,} tokens an unknown share is used"
    return f"{used / window:.0%} of the window is used ({used:,} of {window:,} tokens)"
