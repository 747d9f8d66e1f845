"""What the calls so far left behind in a session whose runtime holds its messages.

One value, replaced by each call: every part has its transitions below it.
"""

import msgspec
from msgspec.structs import replace

from ullage.core.change.decision import Step
from ullage.core.change.request_plan import MemoryPrune, find_prunes_to_repeat
from ullage.core.transcript.context import Context
from ullage.store.state.runtime_state import RuntimeState


class SeenMessages(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen of the messages in this epoch: since the last compaction."""

    is_known: bool = False
    """Whether there was a request, in this process or an earlier one."""
    last: Context | None = None
    """All messages of the last request, in whatever epoch; None before the first."""
    used_tokens: int | None = None
    """Size of that request."""
    summary_id: str | None = None
    """The message that holds the last summary."""
    kept_ids: frozenset[str] = frozenset()
    """Messages from before the last compaction."""

    @property
    def last_ids(self) -> frozenset[str]:
        return frozenset() if self.last is None else ids_of(self.last)


class PendingSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A summary that was given to the runtime and not yet seen applied."""

    replaced_id: str
    """The first message that it stands for."""
    known_ids: frozenset[str] = frozenset()
    """The messages before it: its figures hold those of them that stay."""
    text: str | None = None
    """None after a restart."""
    is_recorded: bool = False
    """Whether the breaker knows already what it brings, as of automatic compactions."""


class Prunes(msgspec.Struct, frozen=True, kw_only=True):
    """What placeholders stood for in the last request."""

    items: tuple[MemoryPrune, ...] = ()
    answer_id: str | None = None
    """The model's last answer then."""


class OverflowAttempts(msgspec.Struct, frozen=True, kw_only=True):
    """What was tried about an overflow that is not over yet."""

    tried: tuple[Step, ...] = ()
    answer_ids: frozenset[str] = frozenset()
    """Answers of the model before it: a new one ends it."""


class Notices(msgspec.Struct, frozen=True, kw_only=True):
    """What was said and done in this epoch that is not said and done again."""

    checkpoint_tokens: int | None = None
    """Size of the context when a checkpoint was written last."""
    is_advised: bool = False
    is_warned: bool = False
    """Of a read-only session, for which nothing is written."""
    is_flush_tried: bool = False
    """Whether memory was flushed, or could not be."""


class Restore(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the agent is to get its working state back."""

    is_due: bool = False
    is_fetched: bool = False
    """Whether the runtime fetched it since the last request or compaction."""


class SessionProgress(msgspec.Struct, frozen=True, kw_only=True):
    n_compactions: int
    """It names the epoch."""
    n_tokens_after: int | None = None
    """What the last summary leaves, by our figures."""
    seen: SeenMessages = SeenMessages()
    pending: PendingSummary | None = None
    prunes: Prunes = Prunes()
    overflow: OverflowAttempts = OverflowAttempts()
    notices: Notices = Notices()
    restore: Restore = Restore()


def ids_of(context: Context) -> frozenset[str]:
    return frozenset(item.entry_id for item in context.items)


def answer_ids_of(context: Context) -> frozenset[str]:
    """List the answers of the model in a context; failed ones have no content."""
    return frozenset(
        item.entry_id
        for item in context.items
        if item.category == "assistant" and item.message.blocks
    )


def count_compactions(progress: SessionProgress, context: Context, by_runtime: int | None) -> int:
    """Count the session's compactions as the runtime does, else by what the messages show."""
    if by_runtime is not None:
        return by_runtime
    summary_id = _summary_id(context)
    if not progress.seen.is_known:
        return max(progress.n_compactions, 1 if summary_id else 0)
    is_new_summary = summary_id not in (None, progress.seen.summary_id)
    return progress.n_compactions + (is_new_summary or is_applied(progress.pending, context))


def is_applied(pending: PendingSummary | None, context: Context) -> bool:
    """Whether the runtime applied a summary, in our words or in its own."""
    if pending is None:
        return False
    boundary, text = context.boundary, pending.text
    if boundary is not None and text and boundary.summary.strip() == text.strip():
        return True
    return bool(context.items) and pending.replaced_id not in ids_of(context)


def begin_epoch(progress: SessionProgress, context: Context, n_compactions: int) -> SessionProgress:
    """Begin a new epoch: what was pruned, written and said in the last one is over."""
    seen, pending = progress.seen, progress.pending
    is_ours = is_applied(pending, context)
    known_ids = pending.known_ids if pending is not None and is_ours else seen.last_ids
    return SessionProgress(
        n_compactions=n_compactions,
        n_tokens_after=progress.n_tokens_after if is_ours else None,
        seen=SeenMessages(last=seen.last, kept_ids=known_ids & ids_of(context)),
        overflow=progress.overflow,
        restore=Restore(is_due=seen.is_known and not progress.restore.is_fetched),
    )


def see_messages(progress: SessionProgress, context: Context) -> SessionProgress:
    """Take note of what the messages of a request show."""
    overflow = progress.overflow
    if answer_ids_of(context) - overflow.answer_ids:
        overflow = OverflowAttempts(answer_ids=overflow.answer_ids)
    return replace(
        progress,
        seen=replace(progress.seen, is_known=True, summary_id=_summary_id(context)),
        prunes=_repeat_prunes(progress.prunes, context),
        overflow=overflow,
    )


def add_summary(
    progress: SessionProgress, context: Context, pending: PendingSummary, n_tokens_after: int
) -> SessionProgress:
    """Wait for the runtime to apply a summary, after which the working state is due again."""
    seen, overflow = progress.seen, progress.overflow
    return replace(
        progress,
        n_tokens_after=n_tokens_after,
        seen=replace(seen, last=seen.last or context),
        pending=pending,
        overflow=replace(overflow, answer_ids=overflow.answer_ids | answer_ids_of(context)),
        restore=replace(progress.restore, is_fetched=False),
    )


def state_of(progress: SessionProgress) -> RuntimeState | None:
    """Give what must outlive the process; None where nothing was seen yet."""
    if not progress.seen.is_known:
        return None
    prunes, pending = progress.prunes, progress.pending
    is_reported = not any(prune.is_unreported for prune in prunes.items)
    return RuntimeState(
        n_compactions=progress.n_compactions,
        summary_id=progress.seen.summary_id,
        kept_ids=tuple(sorted(progress.seen.kept_ids)),
        replaced_id=None if pending is None else pending.replaced_id,
        known_ids=() if pending is None else tuple(sorted(pending.known_ids)),
        is_pending_recorded=pending is not None and pending.is_recorded,
        n_tokens_after=progress.n_tokens_after,
        is_restore_due=progress.restore.is_due,
        pruned=prunes.items,
        answer_id=None if is_reported else prunes.answer_id,
    )


def progress_of(state: RuntimeState, by_runtime: int | None) -> SessionProgress:
    """Go on from what an earlier process left of a session.

    Where the runtime counts other compactions, the session was compacted since or continued
    from another place: nothing is known of its messages then.
    """
    n_compactions, replaced_id = state.n_compactions, state.replaced_id
    pending = None
    if replaced_id is not None:
        pending = PendingSummary(
            replaced_id=replaced_id,
            known_ids=frozenset(state.known_ids),
            is_recorded=state.is_pending_recorded,
        )
    if by_runtime is not None and by_runtime != n_compactions:
        was_applied = by_runtime > n_compactions and pending is not None
        restore = Restore(is_due=was_applied or state.is_restore_due)
        return SessionProgress(n_compactions=by_runtime, restore=restore)
    return SessionProgress(
        n_compactions=n_compactions,
        n_tokens_after=state.n_tokens_after,
        seen=SeenMessages(
            is_known=True, summary_id=state.summary_id, kept_ids=frozenset(state.kept_ids)
        ),
        pending=pending,
        prunes=Prunes(items=state.pruned, answer_id=state.answer_id),
        restore=Restore(is_due=state.is_restore_due),
    )


def _repeat_prunes(prunes: Prunes, context: Context) -> Prunes:
    """Prune again what is there in full again; a new answer has reported what was pruned."""
    answers = (item for item in reversed(context.items) if item.category == "assistant")
    answer_id = next((item.entry_id for item in answers), None)
    items = find_prunes_to_repeat(context.items, prunes.items)
    if answer_id != prunes.answer_id:
        items = tuple(replace(item, is_unreported=False) for item in items)
    return Prunes(items=items, answer_id=answer_id)


def _summary_id(context: Context) -> str | None:
    return None if context.boundary is None else context.boundary.entry_id
