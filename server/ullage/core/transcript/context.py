"""The context: what an agent would send to the model now, and the compactions behind it."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from ullage.core.transcript import entries
from ullage.core.transcript.limits import Limit
from ullage.core.transcript.lineage import CompactionRef

Category: TypeAlias = Literal[
    "system",
    "bootstrap",
    "skills",
    "tools",
    "user",
    "assistant",
    "tool results",
    "summary",
    "injected",
]
UNSEEN = "not in the messages"
"""In the place of a category: what an agent sends beside them, as system prompt and tools."""
GAUGE_OPENING = "[Context: "
RESTORE_OPENING = "[Post-compaction checkpoint restore]"
WARNING_OPENING = "[Context warning] "
OFFER_OPENING = "[Context offer] "
FLUSH_OPENING = "[SYSTEM - INTERNAL FLUSH PROMPT]"
HIDDEN = "(hidden)"
"""Stands for a message that is sent and not shown."""
PREFACE = "The conversation before this point was compacted. This summary stands for it:\n\n"
"""Tells the model what our summaries are; no part of the summary itself."""
SYSTEM_SUMMARY_OPENING = "[Prior conversation summary]\n"
"""The same in a message of the system (docs/design/assembly.md, "History")."""


class ContextItem(msgspec.Struct, frozen=True, kw_only=True):
    """One message of the context and the entry that it comes from."""

    entry_id: str
    message: entries.Message
    category: Category
    native: entries.JsonObject
    """The message in the agent's own shape."""
    at_ms: int | None
    block_categories: tuple[Category, ...] = ()
    """What each block is, where the message is of several kinds."""
    queued: tuple[str, ...] = ()
    """What a person typed before it while the agent worked, where the transcript holds that apart
    from the messages."""
    is_after_boundary: bool = True
    """Whether the entry was written after the last compaction or prune, not kept by it."""
    is_hidden: bool = False
    """Whether its writer wants it sent and not shown."""
    is_pinned: bool = False
    """Whether the user pinned it, so that nothing of it is pruned."""


class Sketch(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a transcript as its agent means it, read without the others."""

    entry_id: str
    parent_id: str | None
    item: ContextItem | None
    """The message that it sends as long as no other line changes it; None where it sends none."""
    is_compaction: bool
    at_ms: int | None


class Compaction(msgspec.Struct, frozen=True, kw_only=True):
    """A compaction as the transcript records it."""

    entry_id: str
    parent_id: str | None = None
    at_ms: int | None
    summary: str
    first_kept_id: str | None = None
    n_tokens_before: int | None = None
    n_tokens_after: int | None = None
    is_after_of_messages: bool = False
    """Whether `n_tokens_after` leaves out the system prompt and the tools."""
    trigger: str | None = None
    """What started it, as its writer says: `manual` or `auto`."""
    layer: str | None = None
    n_messages: int | None = None
    """Messages that the summary replaced."""
    usage: entries.Usage | None = None
    """What its summary took, where that is told of no answer."""
    model: str | None = None
    """What wrote the summary; None where that is not told."""
    details: entries.JsonObject = {}
    """What the writer of the compaction noted beside the summary, in its own shape."""
    is_opaque: bool = False
    """Whether what it left is not to be read, so that its size is unknown."""


class PruneRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A prune on disk as the transcript records it."""

    entry_id: str
    at_ms: int | None
    n_tokens_before: int | None
    n_tokens_after: int | None
    n_pruned: int
    """Outputs and images that a placeholder stands for."""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    header: entries.Header
    items: tuple[ContextItem, ...]
    boundary: Compaction | None
    """The last compaction on the path; the items are its summary and what it left."""
    compactions: tuple[CompactionRef, ...]
    """Oldest first, the boundary last."""
    leaf_id: str | None
    """Entry that the next one will follow."""
    model: str | None
    """As the agent names it, with the window that its user chose: `claude-sonnet-4-5[1m]`."""
    n_entries: int
    """Entries in the whole transcript, in the context or not."""
    size_bytes: int
    """Length of the transcript when it was read."""
    problems: tuple[entries.Problem, ...]
    window_tokens: int | None = None
    """The context window by the agent's own record."""
    provider: str | None = None
    """Who serves the model, where the agent says it."""
    n_sent_before: int = 0
    """What the last request before the boundary held, of the same model; 0 for unknown."""
    pruned: PruneRecord | None = None
    """The last prune on disk since the boundary; a usage from before it says nothing."""
    limits: tuple[Limit, ...] = ()
    """How much of the user's plan is used, where the agent records it."""


def list_cuts(items: Sequence[ContextItem]) -> tuple[int, ...]:
    """List the positions before which a context may be cut, in order.

    Never between a call and its result, never within an answer, whose thinking providers want
    back with its calls, never at a summary, which always goes into the next one.
    """
    # Some agents restart their call ids in each answer: only a later result answers a call.
    answered_at = {
        block.call_id: at
        for at, item in enumerate(items)
        for block in item.message.blocks
        if isinstance(block, entries.ToolResult)
    }
    waiting: set[str] = set()
    cuts: list[int] = []
    for at, item in enumerate(items):
        is_result = any(isinstance(block, entries.ToolResult) for block in item.message.blocks)
        is_parted = bool(waiting) or is_result or (at > 0 and _is_one_answer(items[at - 1], item))
        if not is_parted and item.category not in ("summary", "tool results"):
            cuts.append(at)
        for block in item.message.blocks:
            if isinstance(block, entries.ToolCall) and answered_at.get(block.call_id, -1) >= at:
                waiting.add(block.call_id)
            elif isinstance(block, entries.ToolResult):
                waiting.discard(block.call_id)
    return tuple(cuts)


def last_time_ms(items: Sequence[ContextItem]) -> int | None:
    """Give the time of the last message that has one."""
    return next((item.at_ms for item in reversed(items) if item.at_ms is not None), None)


def list_rounds(items: Sequence[ContextItem]) -> tuple[int, ...]:
    """Give where each round begins: one request to the model, and so the start of each answer.

    An answer may stand on several items of one id, results of its calls among them; without an
    id, items of the model that follow each other are one answer.
    """
    starts: list[int] = []
    last_at, last_id = -2, None
    for at, item in enumerate(items):
        if item.category != "assistant":
            continue
        answer_id = item.message.answer_id
        is_same = last_at == at - 1 if answer_id is None else answer_id == last_id
        if not is_same:
            starts.append(at)
        last_at, last_id = at, answer_id
    return tuple(starts)


def _is_one_answer(before: ContextItem, item: ContextItem) -> bool:
    """Whether two items are blocks of one answer: by their id, or a thought and what follows it."""
    if before.message.answer_id is not None and before.message.answer_id == item.message.answer_id:
        return True
    is_answer = before.category == item.category == "assistant"
    return is_answer and all(isinstance(block, entries.Thinking) for block in before.message.blocks)
