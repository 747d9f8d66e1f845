"""Prune: which old output of tools a placeholder may stand for, by rule and without a model."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from typing import Literal, TypeAlias

import msgspec

from ullage.core.change import tool_outputs
from ullage.core.change.edit import PRUNED_IMAGE, PRUNED_OUTPUT, Replacement
from ullage.core.config.settings import Policy
from ullage.core.facts.tool_calls import describe_call
from ullage.core.text.prose import plural
from ullage.core.text.short_paths import Label
from ullage.core.transcript.agent_lines import IMAGE_TOKENS
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Block, Image, Text, ToolResult
from ullage.core.transcript.tokens import Count, count_items

Reason: TypeAlias = Literal["old output", "superseded read", "duplicate", "old image", "too large"]

PROTECTED_USER_TURNS = 2
"""Rule 1 of docs/design/prune.md, "The six rules"."""
PRUNE_ROUNDS = 10
"""As many requests to the model as a turn protects (docs/design/prune.md, "Rounds")."""
READ_ONLY_TURNS = 3
"""As many turns of the user as keep their output in a read-only session (there)."""
RULE_REASONS: tuple[Reason, ...] = ("old output",)
"""What the six rules prune, and so all that is pruned without being asked for."""
ALL_REASONS: tuple[Reason, ...] = ("old output", "superseded read", "duplicate", "old image")
"""What `plan_prune` offers."""


class PruneItem(msgspec.Struct, frozen=True, kw_only=True):
    """One output or the images of one message, and what a placeholder would free."""

    item_id: str
    """Names the item in every later plan for the same context."""
    replacement: Replacement
    tool: str
    """Empty for the images of a message that is no result."""
    label: Label
    """What it was in a few words, from the transcript."""
    at_ms: int | None
    reason: Reason
    n_tokens: int
    """Of what goes."""
    n_freed: int
    """What goes without what comes in its place; always above 0."""
    is_chosen: bool


class PrunePlan(msgspec.Struct, frozen=True, kw_only=True):
    items: tuple[PruneItem, ...]
    """All that may be pruned, in the order of the context, chosen or not."""
    replacements: tuple[Replacement, ...]
    """Those of the chosen items."""
    n_freed: int
    """By the chosen items."""
    refusal: str | None
    """Why nothing is chosen, in words for the user."""
    unknown_ids: tuple[str, ...]
    """Asked for, but not to be pruned: gone, pruned before, or protected."""


def plan_prune(
    items: Sequence[ContextItem],
    policy: Policy,
    count: Count,
    *,
    chosen: Collection[str] | None = None,
    reasons: Collection[Reason] = RULE_REASONS,
) -> PrunePlan:
    """Plan a prune by the six rules (docs/design/prune.md, "The six rules").

    1. Nothing from the second user message from the end onwards is touched, but for what is older
       than the last `prune_after_rounds` rounds of its turn.
    2. Nothing before the last summary is looked at.
    3. Backwards from there, outputs are protected as long as they fit together into
       `prune_protect_tokens`. The sum leaves out what rule 1 protects: two busy turns would use
       the share up, and nothing before them would be kept. An output that fits only in part is not
       protected, as with the recent share of a layer and in opencode: else one huge output at
       the edge would make the share as large as itself.
    4. All older outputs are marked for the placeholder.
    5. Protected tools are skipped and take nothing of the protected share.
    6. The marked outputs are pruned if they have at least `prune_minimum_tokens` together.

    An output that is no longer than the placeholder stays: nothing would be gained. It and what
    was pruned before are no items, so that a second plan finds nothing of the first.

    Beside rule 4's there are items of other reasons (`stale`, old images), also from within
    rule 3's share, which keeps recent results as they are. So these are offered, and chosen only
    where the caller names their `reasons`. `chosen` names single items instead; then
    the minimum does not apply, since the user asked.
    """
    outputs = tool_outputs.list_outputs(items, policy, count)
    n_rounds = policy.prune_after_rounds or PRUNE_ROUNDS
    within = tool_outputs.find_prunable(items, PROTECTED_USER_TURNS, n_rounds)
    old = _beyond_share(outputs, within, policy.prune_protect_tokens)
    offered = tuple(_offer(items, outputs, within, old, count))
    if chosen is not None:
        offered_ids = {item.item_id for item in offered}
        return _plan(
            offered,
            {item_id for item_id in chosen if item_id in offered_ids},
            "nothing was chosen",
            tuple(item_id for item_id in chosen if item_id not in offered_ids),
        )
    picked = [item for item in offered if item.reason in reasons]
    n_tokens = sum(item.n_tokens for item in picked)
    if not policy.is_prune_enabled:
        return _plan(offered, (), "pruning is turned off (`prune: false`)")
    if not picked:
        return _plan(offered, (), _refuse(items, outputs, within, policy, count))
    if n_tokens < policy.prune_minimum_tokens:
        return _plan(
            offered,
            (),
            f"pruning would free {sum(item.n_freed for item in picked):,} tokens, fewer than the"
            f" minimum of {policy.prune_minimum_tokens:,}",
        )
    return _plan(offered, {item.item_id for item in picked}, "nothing to prune")


def plan_rounds(items: Sequence[ContextItem], policy: Policy, count: Count) -> PrunePlan:
    """Plan what read-only mode leaves out of a request: results older than N turns or rounds.

    In memory alone, so that no minimum and no share of recent output apply. Protected tools
    and what stands before a summary are left alone here too.
    """
    outputs = tool_outputs.list_outputs(items, policy, count)
    n_turns = policy.prune_after_rounds or READ_ONLY_TURNS
    within = tool_outputs.find_prunable(items, n_turns, policy.prune_after_rounds or PRUNE_ROUNDS)
    offered = tuple(
        item
        for output in outputs
        if output.at in within and output.exemption is None
        for item in _output_item(output, "old output", count)
    )
    return _plan(offered, {item.item_id for item in offered}, "no tool output is that old")


def plan_rescue(
    items: Sequence[ContextItem], policy: Policy, count: Count, *, room_tokens: int
) -> PrunePlan:
    """Plan what must go so that messages fit which no layer can make fit: the largest outputs.

    For a session whose last step alone is larger than the window, as after a tool that printed
    a whole log: a cut cannot part its calls from their results, and the six rules protect the last
    two turns. It is never part of a prune by rule. The largest go first, so that the fewest go;
    protected tools stay.
    """
    n_over = count_items(items, count) - room_tokens
    offered = [
        item
        for output in tool_outputs.list_outputs(items, policy, count)
        if output.exemption is None
        for item in _output_item(output, "too large", count)
    ]
    chosen: set[str] = set()
    for item in sorted(offered, key=lambda item: item.n_freed, reverse=True):
        if n_over <= 0:
            break
        chosen.add(item.item_id)
        n_over -= item.n_freed
    return _plan(tuple(offered), chosen, "no tool output is in the way")


def apply_prunes(
    items: Iterable[ContextItem], replacements: Iterable[Replacement]
) -> tuple[ContextItem, ...]:
    """Put placeholders into the messages; the agents' own shapes stay as they are.

    Every result stays with its call. What the provider reported of later answers stays too: it
    tells of the context as it was.
    """
    targets = {(part.entry_id, part.call_id, part.what) for part in replacements}
    entry_ids = {entry_id for entry_id, _, _ in targets}
    return tuple(
        _prune_item(item, targets) if item.entry_id in entry_ids else item for item in items
    )


def _prune_item(item: ContextItem, targets: set[tuple[str, str | None, str]]) -> ContextItem:
    def replaced(block: Block) -> Block:
        if isinstance(block, ToolResult):
            if (item.entry_id, block.call_id, "output") in targets:
                return msgspec.structs.replace(block, content=(Text(text=PRUNED_OUTPUT),))
            if (item.entry_id, block.call_id, "images") in targets:
                content = tuple(
                    Text(text=PRUNED_IMAGE) if isinstance(part, Image) else part
                    for part in block.content
                )
                return msgspec.structs.replace(block, content=content)
        elif isinstance(block, Image) and (item.entry_id, None, "images") in targets:
            return Text(text=PRUNED_IMAGE)
        return block

    blocks = tuple(replaced(block) for block in item.message.blocks)
    return msgspec.structs.replace(
        item, message=msgspec.structs.replace(item.message, blocks=blocks)
    )


def _refuse(
    items: Sequence[ContextItem],
    outputs: Sequence[tool_outputs.Output],
    within: Set[int],
    policy: Policy,
    count: Count,
) -> str:
    """Say which rules keep all output of tools, with the tokens that each keeps."""
    share = f"among the recent {policy.prune_protect_tokens:,}"
    n_rounds = policy.prune_after_rounds or PRUNE_ROUNDS
    first, n_least = tool_outputs.after_summary(items), count(PRUNED_OUTPUT)
    kept: Counter[str] = Counter()
    for output in outputs:
        if output.exemption == "placeholder":
            continue
        if output.at < first:
            rule = "before the last summary"
        elif output.exemption == "protected tool":
            rule = "of protected tools"
        elif output.exemption == "pinned":
            rule = "pinned"
        elif output.exemption == "ambiguous":
            rule = "in entries that name two alike"
        elif output.at not in within:
            rule = f"in the last {n_rounds} requests of the last {PROTECTED_USER_TURNS} turns"
        else:
            rule = share if output.n_tokens > n_least else "in outputs as short as a placeholder"
        kept[rule] += output.n_tokens
    n_tokens = kept.total()
    if not n_tokens:
        return (
            "all output of tools was pruned before"
            if outputs
            else "the context holds no output of a tool"
        )
    rules = [(rule, n) for rule, n in kept.most_common() if n]
    if len(rules) == 1 or n_tokens <= policy.prune_protect_tokens:
        rule = rules[0][0] if len(rules) == 1 else share
        return f"all {n_tokens:,} tokens of tool output are {rule}"
    parts = [f"{n:,} are {rule}" for rule, n in rules]
    return f"of {n_tokens:,} tokens of tool output, {', '.join(parts[:-1])} and {parts[-1]}"


def _beyond_share(
    outputs: Sequence[tool_outputs.Output], within: Set[int], protect_tokens: int
) -> set[int]:
    """Find the outputs that rule 4 marks, by their positions among the outputs."""
    n_recent = 0
    marked: set[int] = set()
    for n in range(len(outputs) - 1, -1, -1):
        if outputs[n].at in within and outputs[n].exemption is None:
            n_recent += outputs[n].n_tokens
            if n_recent > protect_tokens:
                marked.add(n)
    return marked


def _offer(
    items: Sequence[ContextItem],
    outputs: Sequence[tool_outputs.Output],
    within: Set[int],
    old: set[int],
    count: Count,
) -> Iterator[PruneItem]:
    # What is old needs no other reason; mostly that is all but the last ones.
    young = (n for n, output in enumerate(outputs) if output.at in within and n not in old)
    first = next(young, len(outputs))
    repeated = tool_outputs.find_repeats(outputs, first)
    superseded = tool_outputs.find_stale_reads(outputs, first)
    n = 0
    for at in sorted(within):
        yield from _message_images(items, at, count)
        while n < len(outputs) and outputs[n].at < at:
            n += 1
        while n < len(outputs) and outputs[n].at == at:
            output = outputs[n]
            if output.exemption is None:
                if n in old:
                    yield from _output_item(output, "old output", count)
                elif n in repeated:
                    yield from _output_item(output, "duplicate", count)
                elif n in superseded:
                    yield from _output_item(output, "superseded read", count)
                else:
                    yield from _result_images(output, count)
            n += 1


def _output_item(output: tool_outputs.Output, reason: Reason, count: Count) -> Iterator[PruneItem]:
    n_freed = output.n_tokens - count(PRUNED_OUTPUT)
    if n_freed > 0:
        yield PruneItem(
            item_id=f"{output.entry_id}/{output.result.call_id}",
            replacement=Replacement(
                entry_id=output.entry_id, what="output", call_id=output.result.call_id
            ),
            tool=tool_outputs.tool_name(output),
            label=Label("") if output.call is None else describe_call(output.call),
            at_ms=output.at_ms,
            reason=reason,
            n_tokens=output.n_tokens,
            n_freed=n_freed,
            is_chosen=False,
        )


def _result_images(output: tool_outputs.Output, count: Count) -> Iterator[PruneItem]:
    n_images = sum(isinstance(part, Image) for part in output.result.content)
    if n_images:
        yield _images_item(
            Replacement(entry_id=output.entry_id, what="images", call_id=output.result.call_id),
            tool_outputs.tool_name(output),
            n_images,
            output.at_ms,
            count,
        )


def _message_images(items: Sequence[ContextItem], at: int, count: Count) -> Iterator[PruneItem]:
    item = items[at]
    n_images = sum(isinstance(block, Image) for block in item.message.blocks)
    if not n_images or item.is_pinned:
        return
    # Where the neighbor has the same entry, a replacement would strike its images too.
    is_alone = all(
        items[near].entry_id != item.entry_id for near in (at - 1, at + 1) if 0 <= near < len(items)
    )
    if is_alone:
        replacement = Replacement(entry_id=item.entry_id, what="images", call_id=None)
        yield _images_item(replacement, "", n_images, item.at_ms, count)


def _images_item(
    replacement: Replacement, tool: str, n_images: int, at_ms: int | None, count: Count
) -> PruneItem:
    return PruneItem(
        item_id=f"{replacement.entry_id}/{replacement.call_id or ''}/images",
        replacement=replacement,
        tool=tool,
        label=Label(plural(n_images, "image")),
        at_ms=at_ms,
        reason="old image",
        n_tokens=n_images * IMAGE_TOKENS,
        n_freed=n_images * (IMAGE_TOKENS - count(PRUNED_IMAGE)),
        is_chosen=False,
    )


def _plan(
    offered: tuple[PruneItem, ...],
    chosen: Collection[str],
    refusal: str,
    unknown_ids: tuple[str, ...] = (),
) -> PrunePlan:
    items = tuple(
        msgspec.structs.replace(item, is_chosen=item.item_id in chosen) for item in offered
    )
    picked = [item for item in items if item.is_chosen]
    return PrunePlan(
        items=items,
        replacements=tuple(item.replacement for item in picked),
        n_freed=sum(item.n_freed for item in picked),
        refusal=None if picked else refusal,
        unknown_ids=unknown_ids,
    )
