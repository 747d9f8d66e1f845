"""Have the summary of a compaction written that a session's runtime applies itself.

Nothing is written into a transcript. The checkpoint comes first (docs/design/checkpoints.md, "Order
at a compaction").
"""

import asyncio
import time

import msgspec

from ullage.app.change.auto import change_breaker
from ullage.app.change.compact import Request, Summarized, details_of, plan_summary
from ullage.app.checkpoint.write import write_checkpoint
from ullage.app.runtime.session import (
    Attached,
    Call,
    Held,
    Progress,
    answered_ids,
    ids_of,
    keep,
    load_call,
)
from ullage.app.sessions.load import Loaded, with_items
from ullage.app.summary.write import model_use
from ullage.core.change.breaker import record_run
from ullage.core.change.compaction import Unneeded
from ullage.core.gauge.loss import Loss
from ullage.core.transcript.message import JsonObject
from ullage.core.transcript.tokens import count_items
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
    n_added = 0 if wish.previous_summary is None else 1
    if wish.previous_summary is not None:
        call = _with_summary(attached, call, wish.previous_summary)
    held = await asyncio.to_thread(load_call, attached, progress, call)
    chosen = None if wish.first_kept is None else wish.first_kept + n_added
    checkpoint_id, notes = await asyncio.to_thread(_save, attached, held, wish)
    planned = await plan_summary(
        with_items(held.loaded, held.conversation.items),
        wish.request,
        attached.config,
        attached.places,
        model_use(attached.config.model, held.loaded, attached.places),
        None if chosen is None else held.conversation.position_of(chosen),
    )
    used = _used_tokens(held, planned)
    n_after = used if isinstance(planned, Unneeded) else _tokens_after(held, planned, used)
    notes = (*held.notes, *notes)
    if wish.request.trigger == "auto":
        notes += await asyncio.to_thread(_remember, attached, held, wish.request, used, n_after)
    if isinstance(planned, Unneeded):
        await asyncio.to_thread(keep, attached, progress, held.progress)
        return planned, held.progress
    after = _awaiting(held, wish, planned, n_added, n_after)
    notes += await asyncio.to_thread(keep, attached, progress, after)
    place = chosen or held.conversation.place_of(planned.selection.cut.first_kept)
    done = HeldCompaction(
        summary=planned.summary.text,
        message=attached.shape.summary_message(
            planned.summary.text, n_tokens_before=used, at_ms=_now_ms()
        ),
        first_kept=place - n_added,
        standing=tuple(at - n_added for at in held.conversation.standing_before(place)),
        details=details_of(planned, used, n_after),
        n_tokens_before=used,
        n_tokens_after=n_after,
        author=planned.summary.author,
        loss=planned.summary.loss,
        checkpoint_id=checkpoint_id,
        notes=(*notes, *planned.summary.warnings),
    )
    return done, after


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
            channel="agent",
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


def _tokens_after(held: Held, planned: Summarized, used: int) -> int:
    """Give what is left: all by the metric of `used`, which is of the messages as they are sent.

    Placeholders end with the epoch: what is kept is sent in full again.
    """
    replaced = {item.entry_id for item in planned.selection.replaced}
    n_gone = count_items(
        (item for item in held.sent.items if item.entry_id in replaced), held.loaded.count
    )
    back = (one for one in held.progress.pruned if one.replacement.entry_id not in replaced)
    n_left = max(0, used - n_gone) + sum(one.n_freed for one in back)
    return n_left + planned.summary.n_tokens


def _awaiting(held: Held, wish: Wish, planned: Summarized, n_added: int, n_after: int) -> Progress:
    """Wait for the runtime to apply the summary, after which the working state is due again."""
    progress = held.progress
    return msgspec.structs.replace(
        progress,
        last=progress.last or held.loaded.context,
        written=planned.summary.text,
        replaced_id=planned.selection.replaced[n_added].entry_id,
        n_tokens_after=n_after,
        is_recorded=wish.request.trigger == "auto",
        is_restored=False,
        answered_ids=progress.answered_ids | answered_ids(held.loaded.context),
    )


def _remember(
    attached: Attached, held: Held, request: Request, n_before: int, n_after: int
) -> tuple[str, ...]:
    """Remember what an automatic compaction brings, so that none follows another in vain."""
    try:
        change_breaker(
            attached.session,
            lambda breaker: record_run(
                breaker,
                request.layer,
                n_before=n_before,
                n_after=n_after,
                n_compactions=held.progress.n_compactions,
                now_ms=_now_ms(),
            ),
            attached.places,
        )
    except UllageError as error:
        return (str(error),)
    return ()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
