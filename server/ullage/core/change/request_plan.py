"""What is done about the context right before one request to the model.

In this order (docs/design/layers.md, "Before each request"): prune in memory, count again, look at
the thresholds; a read-only session stops there. What was pruned for a request stays pruned for the
next ones: else the context would be full again at once, and the provider's cache of it would be
lost.
"""

from collections.abc import Sequence

import msgspec

from ullage.core.change.decision import Action, Cascade, Prune, Step, decide
from ullage.core.change.edit import Replacement
from ullage.core.change.prune import PrunePlan, apply_prunes, plan_prune, plan_rounds
from ullage.core.change.tool_outputs import count_tool_output_tokens, is_placeholder
from ullage.core.config.settings import Policy
from ullage.core.gauge.gauge import tells_usage
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import ToolResult
from ullage.core.transcript.tokens import Count


class MemoryPrune(Replacement, frozen=True, kw_only=True):
    """What a placeholder stands for in requests, and not in the messages that the runtime holds."""

    n_tokens: int
    n_freed: int
    is_unreported: bool = msgspec.field(name="is_unseen")
    """Whether it is pruned since the model's last answer: the usage reported then has all of it."""


class RequestPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided for one request."""

    prunes: tuple[MemoryPrune, ...]
    """All that placeholders stand for in this request, what was pruned before included."""
    used_tokens: int | None
    """After pruning."""
    action: Action
    """What is left to be done: never a prune."""

    @property
    def n_freed(self) -> int:
        return sum(prune.n_freed for prune in self.prunes)


def find_prunes_to_repeat(
    items: Sequence[ContextItem], prunes: Sequence[MemoryPrune]
) -> tuple[MemoryPrune, ...]:
    """List what was pruned for an earlier request and is there in full again."""
    entry_ids = {prune.entry_id for prune in prunes}
    there: set[tuple[str, str | None]] = set()
    for item in items:
        if item.entry_id in entry_ids:
            there.add((item.entry_id, None))
            there.update(
                (item.entry_id, block.call_id)
                for block in item.message.blocks
                if isinstance(block, ToolResult) and not is_placeholder(block)
            )
    return tuple(prune for prune in prunes if (prune.entry_id, prune.call_id) in there)


def subtract_unreported(
    items: Sequence[ContextItem], prunes: Sequence[MemoryPrune]
) -> tuple[ContextItem, ...]:
    """Take what was pruned since the model's last answer from the usage that was reported.

    Without a report all is counted as it is sent.
    """
    unreported = [prune for prune in prunes if prune.is_unreported]
    last = next((at for at in reversed(range(len(items))) if tells_usage(items[at])), None)
    usage = None if last is None else items[last].message.usage
    if last is None or usage is None or not unreported:
        return tuple(items)
    reported_ids = {item.entry_id for item in items[: last + 1]}
    n_freed = sum(prune.n_freed for prune in unreported if prune.entry_id in reported_ids)
    usage = msgspec.structs.replace(usage, n_total=max(0, usage.n_total - n_freed))
    message = msgspec.structs.replace(items[last].message, usage=usage)
    corrected = msgspec.structs.replace(items[last], message=message)
    return (*items[:last], corrected, *items[last + 1 :])


def plan_request(
    items: Sequence[ContextItem],
    earlier: tuple[MemoryPrune, ...],
    cascade: Cascade,
    policy: Policy,
    count: Count,
    now_ms: int,
) -> RequestPlan:
    """Go through the cascade until nothing is due that is done in memory.

    `items` are the messages as the last request would have had them, with placeholders for the
    `earlier` prunes; the figures of `cascade` are theirs.
    """
    prunes = earlier
    while isinstance(action := decide(cascade, policy, now_ms), Prune):
        plan = (plan_rounds if policy.is_read_only else plan_prune)(items, policy, count)
        items = apply_prunes(items, plan.replacements)
        prunes += take_prunes(plan)
        step = Step(what="prune", n_freed=plan.n_freed)
        cascade = cascade.after(step, tool_tokens=count_tool_output_tokens(items, count))
    return RequestPlan(prunes=prunes, used_tokens=cascade.used_tokens, action=action)


def take_prunes(plan: PrunePlan) -> tuple[MemoryPrune, ...]:
    """Give what a plan prunes, of which no usage was reported yet."""
    return tuple(
        MemoryPrune(
            entry_id=item.replacement.entry_id,
            what=item.replacement.what,
            call_id=item.replacement.call_id,
            n_tokens=item.n_tokens,
            n_freed=item.n_freed,
            is_unreported=True,
        )
        for item in plan.items
        if item.is_chosen
    )
