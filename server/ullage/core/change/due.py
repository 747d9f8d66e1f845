"""What is due by itself, and what that would free: the one plan that all tell of.

Status, menu, hover and the automatic run go through the same cascade. Nothing is rendered, and no
summary is written for it: only which messages that would stand for is selected.
"""

import msgspec

from ullage.core.change import compaction
from ullage.core.change.breaker import Breaker
from ullage.core.change.decision import (
    Action,
    Ask,
    Cascade,
    Compact,
    Prune,
    Step,
    decide,
    describe_usage,
    find_due_compaction,
)
from ullage.core.config.settings import Policy
from ullage.core.gauge.gauge import Gauge, Layer, ratio_at, summary_at
from ullage.core.transcript.context import Context
from ullage.core.transcript.tokens import Count

PREPARED_SHARE = 0.85
"""Of the size at which a summary is due: 75 % of the window, where that is 88 %
(docs/design/layers.md, "Ready before it is due")."""


class DuePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What the thresholds ask for now."""

    action: Action
    """The first decision: what is due and why, or why nothing is."""
    layer: Layer | None
    """The strongest layer that was worked out; None where nothing was due."""
    change: Layer | None
    """What the one change is that does it; None where nothing would be gained, or may be done."""
    n_freed: int
    """By that change; of a summary, which may take less than its budget, at least so much."""
    is_checkpoint_due: bool
    refusal: str | None
    """Why nothing is done of what the figures ask for."""

    @property
    def reason(self) -> str:
        """Say what was decided, and why that frees nothing where it does not."""
        said = self.action.reason
        if self.change is not None or self.refusal is None or self.refusal in said:
            return said
        return f"{said}, but {self.refusal}"


def may_be_due(gauge: Gauge, policy: Policy) -> bool:
    """Whether the context is as large as the first layer asks for; costs nothing."""
    used, window = gauge.used_tokens, gauge.window.n_tokens
    if used is None:
        return False
    is_high = used >= ratio_at(window, policy.prune_ratio)
    return is_high or find_due_compaction(used, window, policy) is not None


def is_summary_near(gauge: Gauge, policy: Policy) -> bool:
    """Whether a summary is not due yet, and so near that it is prepared; costs nothing."""
    due_at = summary_at(gauge.window.n_tokens, policy)
    return ratio_at(due_at, PREPARED_SHARE) <= (gauge.used_tokens or 0) < due_at


def plan_due(
    context: Context,
    gauge: Gauge,
    policy: Policy,
    count: Count,
    *,
    now_ms: int,
    breaker: Breaker,
    is_auto_on: bool | None,
) -> DuePlan:
    """Go through the cascade, and give the one change that it ends with.

    After each layer the same metric is taken again, as far as it is known before there is a
    summary. A compaction that follows a prune replaces what the prune would have changed, so that
    the prune itself is not written. `is_auto_on` is the session's own switch; None where the
    policy decides.
    """
    used, window = gauge.used_tokens, gauge.window.n_tokens
    is_near = may_be_due(gauge, policy)
    cascade = Cascade(
        occasion="threshold",
        used_tokens=used,
        window_tokens=window,
        window_doubt=gauge.window.doubt,
        tool_tokens=_count_tool_output(context, count) if is_near else 0,
        n_compactions=len(context.compactions),
        breaker=breaker,
        started_tokens=used,
        is_auto_on=is_auto_on,
    )
    first = action = decide(cascade, policy, now_ms)
    layer: Layer | None = None
    change: Layer | None = None
    refusal: str | None = None
    n_freed = 0
    while (next_layer := _layer_of(action)) is not None:
        layer = next_layer
        freed = _plan_layer(layer, context, gauge, policy, count)
        n_step = 0 if isinstance(freed, compaction.NoCompaction) else freed
        if isinstance(freed, compaction.NoCompaction):
            refusal = freed.reason
        else:
            change, n_freed = layer, freed
        cascade = msgspec.structs.replace(
            cascade,
            used_tokens=max(0, (cascade.used_tokens or 0) - n_step),
            tried=(*cascade.tried, Step(what=layer, n_freed=n_step)),
            confirmed_layer="full",
        )
        action = decide(cascade, policy, now_ms)
    if policy.is_read_only:
        # What is pruned in memory alone is no change; what is left to say comes after it.
        first, layer, change, n_freed, refusal = action, None, None, 0, None
    if layer is None and is_near:
        refusal = _refusal_of(first, cascade)
    return DuePlan(
        action=first,
        layer=layer,
        change=change,
        n_freed=n_freed,
        is_checkpoint_due=not policy.is_read_only
        and used is not None
        and used >= ratio_at(window, policy.checkpoint_ratio),
        refusal=refusal,
    )


def _layer_of(action: Action) -> Layer | None:
    match action:
        case Prune():
            return "prune"
        case Compact() | Ask():
            return action.layer
        case _:
            return None


def _plan_layer(
    layer: Layer, context: Context, gauge: Gauge, policy: Policy, count: Count
) -> int | compaction.NoCompaction:
    """Give how many tokens a layer would free, or why none."""
    if layer != "prune":
        return _plan_summary(compaction.select(context, gauge, layer, policy, count))
    # Not with the module: most sessions are looked at long before anything is due.
    from ullage.core.change.prune import plan_prune

    waiting = compaction.refuse_open_calls(context.items)
    if waiting is not None:
        return waiting
    plan = plan_prune(context.items, policy, count)
    return plan.n_freed if plan.refusal is None else compaction.NoCompaction(reason=plan.refusal)


def _plan_summary(
    selection: compaction.Selection | compaction.NoCompaction,
) -> int | compaction.NoCompaction:
    """Give what a summary frees that takes its whole budget, where that is worth its loss."""
    if isinstance(selection, compaction.NoCompaction):
        return selection
    n_replaced, n_summary = selection.cut.n_tokens_replaced, selection.summary_budget_tokens
    if n_summary <= compaction.MAX_SUMMARY_RATIO * n_replaced:
        return n_replaced - n_summary
    return compaction.NoCompaction(
        reason=f"only {n_replaced:,} tokens would be summarized, too few to gain"
    )


def _count_tool_output(context: Context, count: Count) -> int:
    from ullage.core.change.tool_outputs import count_tool_output_tokens

    return count_tool_output_tokens(context.items, count)


def _refusal_of(action: Action, cascade: Cascade) -> str | None:
    """Give what a decision says beside how full the window is; None where that is all."""
    return action.reason.removeprefix(describe_usage(cascade)).lstrip(":;, ") or None
