"""A turn: what is done about the context right before one request to the model.

In this order (docs/design/layers.md, "Before each request"): prune in memory, count again, look at
the thresholds; a read-only session stops there. What was pruned for a request stays pruned for the
next ones: else the context would be full again at once, and the provider's cache of it would be
lost.
"""

from collections.abc import Sequence

import msgspec

from ullage.core.change.decision import Action, Prune, Situation, Step, decide
from ullage.core.change.prune import PruneItem, plan_prune, plan_rounds, pruned
from ullage.core.change.tool_outputs import is_placeholder, tool_output_tokens
from ullage.core.gauge.gauge import tells_usage
from ullage.core.gauge.policy import Policy
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.message import ToolResult
from ullage.core.transcript.tokens import Count


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided for one request."""

    pruned: tuple[PruneItem, ...]
    """All that placeholders stand for in this request, what was pruned before included."""
    used_tokens: int | None
    """After pruning."""
    action: Action
    """What is left to be done: never a prune."""

    @property
    def n_freed(self) -> int:
        return sum(item.n_freed for item in self.pruned)


def still_pruned(
    items: Sequence[ContextItem], before: Sequence[PruneItem]
) -> tuple[PruneItem, ...]:
    """List what was pruned for an earlier request and is there in full again."""
    wanted = {(one.replacement.entry_id, one.replacement.call_id) for one in before}
    entry_ids = {entry_id for entry_id, _ in wanted}
    found: set[tuple[str, str | None]] = set()
    for item in items:
        if item.entry_id not in entry_ids:
            continue
        found.add((item.entry_id, None))
        found.update(
            (item.entry_id, block.call_id)
            for block in item.message.blocks
            if isinstance(block, ToolResult) and not is_placeholder(block)
        )
    return tuple(
        one for one in before if (one.replacement.entry_id, one.replacement.call_id) in found
    )


def without_unseen(
    items: Sequence[ContextItem], unseen: Sequence[PruneItem]
) -> tuple[ContextItem, ...]:
    """Take what was pruned since the model's last answer from the figure that was reported.

    No report knows of it yet; without a report all is counted as it is sent.
    """
    last = next((at for at in reversed(range(len(items))) if tells_usage(items[at])), None)
    usage = None if last is None else items[last].message.usage
    if last is None or usage is None or not unseen:
        return tuple(items)
    told_of = {item.entry_id for item in items[: last + 1]}
    n_freed = sum(one.n_freed for one in unseen if one.replacement.entry_id in told_of)
    left = msgspec.structs.replace(usage, n_total=max(0, usage.n_total - n_freed))
    message = msgspec.structs.replace(items[last].message, usage=left)
    told = msgspec.structs.replace(items[last], message=message)
    return (*items[:last], told, *items[last + 1 :])


def plan_turn(
    items: Sequence[ContextItem],
    before: tuple[PruneItem, ...],
    situation: Situation,
    policy: Policy,
    count: Count,
    now_ms: int,
) -> Turn:
    """Go through the cascade until nothing is due that is done in memory.

    `items` are the messages as the last request would have had them, with placeholders for what
    is in `before`; the figures of `situation` are theirs, but for its tool output.
    """
    taken = before
    current = msgspec.structs.replace(
        situation,
        started_tokens=situation.used_tokens,
        tool_tokens=tool_output_tokens(items, count),
        is_prune_in_memory=True,
    )
    action = decide(current, policy, now_ms)
    while isinstance(action, Prune):
        plan = (plan_rounds if policy.is_read_only else plan_prune)(items, policy, count)
        chosen = tuple(item for item in plan.items if item.is_chosen)
        items = pruned(items, plan.replacements)
        taken = (*taken, *chosen)
        used = current.used_tokens
        current = msgspec.structs.replace(
            current,
            used_tokens=None if used is None else max(0, used - plan.n_freed),
            tool_tokens=tool_output_tokens(items, count),
            tried=(*current.tried, Step(what="prune", n_freed=plan.n_freed)),
        )
        action = decide(current, policy, now_ms)
    return Turn(pruned=taken, used_tokens=current.used_tokens, action=action)
