"""Have the summary of a compaction written that a session's runtime applies itself.

Nothing is written into a transcript. The checkpoint comes first (S1 §8.1).
"""

import asyncio
import time
from collections.abc import Sequence

import msgspec

from ullage.app.attached import Attached, Call, Held, Progress, answered_ids, ids_of, load_call
from ullage.app.auto import change_breaker
from ullage.app.checkpoint import write_checkpoint
from ullage.app.compact import Request, Summarized, details_of, plan_summary
from ullage.app.load import Loaded, with_items
from ullage.app.models import model_use
from ullage.core.breaker import record_run
from ullage.core.compaction import Unneeded
from ullage.core.loss import Loss
from ullage.core.message import JsonObject
from ullage.core.tokens import count_items
from ullage.errors import UllageError


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime says of a compaction beside the messages."""

    request: Request
    first_kept: int | None = None
    """Where the runtime cuts; it may be the number of messages."""
    previous_summary: str | None = None
    """Where it is not among the messages."""
    is_split_turn: bool = False


class HeldCompaction(msgspec.Struct, frozen=True, kw_only=True):
    """A compaction as the runtime is to apply it."""

    summary: str
    message: JsonObject
    """In the runtime's own shape."""
    first_kept: int
    standing: tuple[int, ...]
    """Messages before the first kept one that stay all the same, before the summary."""
    details: JsonObject
    n_tokens_before: int
    n_tokens_after: int
    author: str
    loss: Loss
    checkpoint_id: str | None
    notes: tuple[str, ...]


async def compact_held(
    attached: Attached, progress: Progress, call: Call, wish: Wish
) -> tuple[HeldCompaction | Unneeded, Progress]:
    """Write a checkpoint and the summary; a model that fails is replaced by our own rules.

    Raises:
        PinRefused: there are pins that cannot be read, so that they would be lost.
    """
    summary = wish.previous_summary
    n_added = 0
    if summary is not None:
        call, n_added = _with_summary(attached, call, summary), 1
    held = await asyncio.to_thread(load_call, attached, progress, call)
    loaded, conversation = held.loaded, held.conversation
    chosen = None if wish.first_kept is None else wish.first_kept + n_added
    checkpoint_id, notes = await asyncio.to_thread(_save, attached, held, wish)
    model = model_use(attached.config.model, loaded, attached.places)
    planned = await plan_summary(
        with_items(loaded, conversation.items),
        wish.request,
        attached.config,
        attached.places,
        model,
        None if chosen is None else conversation.position_of(chosen),
    )
    used = _used_tokens(held, planned)
    if isinstance(planned, Unneeded):
        if wish.request.trigger == "auto":
            notes += await asyncio.to_thread(_remember, attached, held, wish.request, used, used)
        return planned, held.progress
    place = chosen or conversation.place_of(planned.selection.cut.first_kept)
    n_after = _tokens_after(held, conversation.places, planned, used)
    if wish.request.trigger == "auto":
        notes += await asyncio.to_thread(_remember, attached, held, wish.request, used, n_after)
    done = HeldCompaction(
        summary=planned.summary.text,
        message=attached.shape.summary_message(
            planned.summary.text, n_tokens_before=used, at_ms=time.time_ns() // 1_000_000
        ),
        first_kept=place - n_added,
        standing=tuple(at - n_added for at in conversation.standing_before(place)),
        details=details_of(planned, used, n_after),
        n_tokens_before=used,
        n_tokens_after=n_after,
        author=planned.summary.author,
        loss=planned.summary.loss,
        checkpoint_id=checkpoint_id,
        notes=(*notes, *planned.summary.warnings),
    )
    replaced = planned.selection.replaced[n_added:]
    progress = msgspec.structs.replace(
        held.progress,
        written=planned.summary.text,
        replaced_id=replaced[0].entry_id if replaced else None,
        n_tokens_after=n_after,
        answered_ids=held.progress.answered_ids | answered_ids(loaded.context),
    )
    return done, progress


def _with_summary(attached: Attached, call: Call, summary: str) -> Call:
    """Put the summary of the compaction before first, as the context has it."""
    message = attached.shape.summary_message(summary, n_tokens_before=0, at_ms=0)
    entry_ids = None if call.entry_ids is None else ["", *call.entry_ids]
    return msgspec.structs.replace(call, messages=[message, *call.messages], entry_ids=entry_ids)


def _save(attached: Attached, held: Held, wish: Wish) -> tuple[str | None, tuple[str, ...]]:
    """Write the checkpoint; where the disk does not take it, the session is compacted anyway.

    The runtime's transcript holds everything: an agent that cannot go on is worse.
    """
    try:
        written = write_checkpoint(
            _whole(held),
            attached.config.checkpoint,
            attached.places,
            trigger="compaction",
            is_split_turn=wish.is_split_turn,
        )
    except UllageError as error:
        return None, (f"{error}; compacted without a checkpoint",)
    problem = () if written.problem is None else (written.problem,)
    return written.checkpoint.meta.checkpoint_id, problem


def _whole(held: Held) -> Loaded:
    """Add the messages of the last request that a runtime keeps and so did not send again."""
    loaded, last = held.loaded, held.progress.last
    if last is None:
        return loaded
    ids = ids_of(loaded.context)
    shared = [at for at, item in enumerate(last.items) if item.entry_id in ids]
    if not shared:
        return loaded
    return with_items(loaded, (*loaded.context.items, *last.items[shared[-1] + 1 :]))


def _used_tokens(held: Held, planned: Summarized | Unneeded) -> int:
    """Give the size of the context as it was sent last, by the surest of what is known."""
    if held.loaded.status.gauge.used_source != "reported" and held.progress.used_tokens:
        return held.progress.used_tokens
    used = held.loaded.status.gauge.used_tokens
    if used is not None:
        return used
    return 0 if isinstance(planned, Unneeded) else planned.selection.n_tokens_before


def _tokens_after(held: Held, places: Sequence[int], planned: Summarized, used: int) -> int:
    replaced = [held.sent.items[at] for at in places[: planned.selection.cut.first_kept]]
    n_left = max(0, used - count_items(replaced, held.loaded.count))
    return n_left + planned.summary.n_tokens


def _remember(
    attached: Attached, held: Held, request: Request, n_before: int, n_after: int
) -> tuple[str, ...]:
    """Remember what an automatic compaction brings, so that none follows another in vain."""
    n_compactions = held.progress.n_compactions + (n_after < n_before)
    try:
        change_breaker(
            attached.session,
            lambda breaker: record_run(
                breaker,
                request.layer,
                n_before=n_before,
                n_after=n_after,
                n_compactions=n_compactions,
                now_ms=time.time_ns() // 1_000_000,
            ),
            attached.places,
        )
    except UllageError as error:
        return (str(error),)
    return ()
