"""The messages of one request, as a runtime sends them, read and measured."""

import time
from collections.abc import Sequence
from typing import TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

from ullage.app.change.prune import with_placeholders
from ullage.app.runtime.progress import (
    OverflowAttempts,
    SessionProgress,
    answer_ids_of,
    begin_epoch,
    count_compactions,
    is_applied,
    see_messages,
)
from ullage.app.runtime.session import RuntimeSession, remember_run
from ullage.app.sessions.load import Loaded, mark_pins, measure_reading, replace_items
from ullage.app.sessions.secrets import SessionSecrets
from ullage.core.change import breaker, decision
from ullage.core.change.compaction import Selection, count_hidden_tokens, select
from ullage.core.change.decision import Cascade, Occasion, Step, decide
from ullage.core.change.prune import PrunePlan, apply_prunes, plan_prune, plan_rescue
from ullage.core.change.request_plan import MemoryPrune, subtract_unreported, take_prunes
from ullage.core.change.tool_outputs import count_tool_output_tokens
from ullage.core.transcript.context import Context, ContextItem
from ullage.core.transcript.entries import JsonObject
from ullage.core.transcript.lineage import EMPTY_INDEX
from ullage.core.transcript.tokens import count_items
from ullage.formats.in_memory import SessionFacts, context_of_messages
from ullage.formats.reading import Reading
from ullage.store.state.auto_state import read_auto_state


class RequestMessages(msgspec.Struct, frozen=True, kw_only=True):
    """All messages of a request, and what the runtime knows of them."""

    messages: list[JsonObject]
    entry_ids: list[str] | None = None
    used_tokens: int | None = None
    n_reported: int | None = None
    """How many messages `used_tokens` are of; None: up to the model's last answer."""
    window_tokens: int | None = None
    n_compactions: int | None = None


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of a request but for those of the system, for which no summary stands.

    Most runtimes send a system prompt apart. Where it is one of the messages it must outlive every
    compaction, and with it what the runtime says later in that role: nobody else can know that an
    instruction of it is over.
    """

    items: tuple[ContextItem, ...]
    places: tuple[int, ...]
    """Where each of them is among all messages, and at last where those end."""

    def position_of(self, place: int) -> int:
        """Give the position of the first message at a place among all, or behind it."""
        return sum(earlier < place for earlier in self.places)

    def system_places(self, end: int) -> tuple[int, ...]:
        """List the places of the system's messages before a place."""
        return tuple(sorted(set(range(end)) - set(self.places)))


class MeasuredRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of a request, measured."""

    loaded: Loaded
    sent: Context
    """With placeholders for what was pruned before."""
    progress: SessionProgress
    notes: tuple[str, ...] = ()
    """What the disk did not take."""

    @property
    def conversation(self) -> Conversation:
        return conversation_of(self.loaded.context.items)


class CompactFirst(msgspec.Struct, frozen=True, kw_only=True):
    """The runtime is to compact, apply it, and send once more."""

    selection: Selection
    first_kept: int
    """The place of the first message that stays, but for the system's."""
    reason: str


class SendAgain(msgspec.Struct, frozen=True, kw_only=True):
    """The runtime is to send once more with these messages in the place of its own."""

    natives: dict[int, JsonObject]
    reason: str


class GiveUp(msgspec.Struct, frozen=True, kw_only=True):
    """The turn ends with an error of the kind `context_overflow`."""

    reason: str


OverflowAdvice: TypeAlias = CompactFirst | SendAgain | GiveUp


class _RefusedRequest:
    """The messages that did not fit, and what is pruned of them on the way."""

    def __init__(self, measured: MeasuredRequest) -> None:
        self.measured = measured
        self.loaded = measured.loaded
        self._items: tuple[ContextItem, ...] = measured.sent.items
        self._prunes: tuple[MemoryPrune, ...] = measured.progress.prunes.items

    @property
    def tool_tokens(self) -> int:
        return count_tool_output_tokens(self._items, self.loaded.count)

    def prune(self) -> int:
        return self._apply(plan_prune(self._items, self.loaded.policy, self.loaded.count))

    def compact(self, reason: str) -> tuple[CompactFirst | None, int]:
        """Have the runtime compact, or prune the largest outputs where that leaves too much."""
        gauge, policy, count = self.loaded.status.gauge, self.loaded.policy, self.loaded.count
        conversation = self.measured.conversation
        talked = replace_items(self.loaded, conversation.items).context
        selection = select(talked, gauge, "full", policy, count)
        if not isinstance(selection, Selection):
            return None, self._rescue()
        n_left = selection.n_tokens_hidden + selection.cut.n_tokens_kept
        is_enough = n_left + selection.summary_budget_tokens < gauge.window.n_tokens
        if not is_enough and (n_freed := self._rescue()) > 0:
            return None, n_freed
        # What the runtime makes of it is not known here; one compaction is tried.
        place = conversation.places[selection.cut.first_kept]
        return CompactFirst(selection=selection, first_kept=place, reason=reason), 0

    def natives(self, session: RuntimeSession) -> dict[int, JsonObject]:
        return put_placeholders(session, self.measured, self._prunes)

    def progress(self, tried: tuple[Step, ...]) -> SessionProgress:
        before = self.measured.progress
        return replace(
            before,
            prunes=replace(before.prunes, items=self._prunes),
            overflow=OverflowAttempts(tried=tried, answer_ids=answer_ids_of(self.loaded.context)),
        )

    def _rescue(self) -> int:
        """Prune the largest outputs, recent ones too, until the messages fit the window."""
        gauge, policy, count = self.loaded.status.gauge, self.loaded.policy, self.loaded.count
        n_hidden = count_hidden_tokens(gauge, count_items(self.measured.sent.items, count))
        room = gauge.window.n_tokens - policy.reserve_tokens - n_hidden
        return self._apply(plan_rescue(self._items, policy, count, room_tokens=room))

    def _apply(self, plan: PrunePlan) -> int:
        self._items = apply_prunes(self._items, plan.replacements)
        self._prunes += take_prunes(plan)
        return plan.n_freed


def measure_request(
    session: RuntimeSession, progress: SessionProgress, request: RequestMessages
) -> MeasuredRequest:
    """Read and measure the messages of a request; a compaction that they show begins an epoch."""
    context = _read(session, progress, request)
    n_compactions = count_compactions(progress, context, request.n_compactions)
    notes: tuple[str, ...] = ()
    if n_compactions > progress.n_compactions:
        notes = _begin_breaker_epoch(session, progress, context, n_compactions)
        progress = begin_epoch(progress, context, n_compactions)
        context = _read(session, progress, request)
    progress = see_messages(progress, context)
    pinned_ids = {item.entry_id for item in context.items if item.is_pinned}
    prunes = tuple(part for part in progress.prunes.items if part.entry_id not in pinned_ids)
    if prunes != progress.prunes.items:
        # Pinned since: it is shown again.
        progress = replace(progress, prunes=replace(progress.prunes, items=prunes))
    items = subtract_unreported(apply_prunes(context.items, prunes), prunes)
    sent = replace(context, items=items)
    loaded = _measure(session, context, sent)
    return MeasuredRequest(loaded=loaded, sent=sent, progress=progress, notes=notes)


def cascade_of(session: RuntimeSession, measured: MeasuredRequest, occasion: Occasion) -> Cascade:
    """Give what a decision about the request rests on."""
    gauge, progress = measured.loaded.status.gauge, measured.progress
    state = read_auto_state(session.key, session.places)
    memory = state.breaker
    if progress.notices.is_warned:
        memory = breaker.record_warning(memory, n_compactions=progress.n_compactions)
    return Cascade(
        occasion=occasion,
        used_tokens=gauge.used_tokens,
        window_tokens=gauge.window.n_tokens,
        window_doubt=gauge.window.doubt,
        tool_tokens=count_tool_output_tokens(measured.sent.items, measured.loaded.count),
        n_compactions=progress.n_compactions,
        breaker=memory,
        started_tokens=gauge.used_tokens,
        tried=progress.overflow.tried if occasion == "overflow" else (),
        is_auto_on=state.is_on,
        is_in_memory=True,
    )


def put_placeholders(
    session: RuntimeSession, measured: MeasuredRequest, prunes: Sequence[MemoryPrune]
) -> dict[int, JsonObject]:
    """Give the runtime's own messages that change by a prune, by their place."""
    items = measured.loaded.context.items
    changed = with_placeholders(items, prunes, session.info.shape.prune_message)
    return {
        at: item.native for at, item in enumerate(changed) if item.native is not items[at].native
    }


def conversation_of(items: Sequence[ContextItem]) -> Conversation:
    """Leave out the system's messages; what is ours in the system's role is none of them."""
    places = [at for at, item in enumerate(items) if not _is_of_system(item)]
    return Conversation(items=tuple(items[at] for at in places), places=(*places, len(items)))


def _read(session: RuntimeSession, progress: SessionProgress, request: RequestMessages) -> Context:
    given = SessionFacts(
        header=session.session.header,
        n_compactions=progress.n_compactions,
        model=session.info.model,
        window_tokens=request.window_tokens or session.info.window_tokens,
        used_tokens=request.used_tokens,
        n_reported=request.n_reported,
        kept_ids=progress.seen.kept_ids,
        n_tokens_after=progress.n_tokens_after,
    )
    context = context_of_messages(session.info.shape, request.messages, given, request.entry_ids)
    secrets = SessionSecrets(session.session.header, session.places)
    return mark_pins(context, session.session, secrets)


def _measure(session: RuntimeSession, context: Context, sent: Context) -> Loaded:
    loaded = measure_reading(
        session.session,
        Reading(context=context, index=EMPTY_INDEX),
        session.config,
        session.count,
        SessionSecrets(session.session.header, session.places),
        sent,
    )
    if not session.info.is_read_only:
        return loaded
    policy = replace(loaded.policy, is_read_only=True)
    return replace(loaded, policy=policy)


def _begin_breaker_epoch(
    session: RuntimeSession, progress: SessionProgress, context: Context, n_compactions: int
) -> tuple[str, ...]:
    """Begin the breaker's epoch too; what it recorded of an automatic run outlives that run."""
    pending = progress.pending
    if pending is not None and pending.is_recorded and is_applied(pending, context):
        return remember_run(session, lambda memory: breaker.record_applied(memory, n_compactions))
    return remember_run(session, lambda memory: breaker.begin_epoch(memory, n_compactions))


def _is_of_system(item: ContextItem) -> bool:
    is_system = item.category == "system" and item.message.role == "system"
    return is_system and bool(item.message.blocks)


def advise_on_overflow(
    session: RuntimeSession, progress: SessionProgress, request: RequestMessages
) -> tuple[OverflowAdvice, SessionProgress]:
    """Decide what frees room; an overflow is over once the model has answered again."""
    refused = _RefusedRequest(measure_request(session, progress, request))
    policy = refused.loaded.policy
    cascade = cascade_of(session, refused.measured, "overflow")
    advice: OverflowAdvice | None = None
    while advice is None:
        action = decide(cascade, policy, time.time_ns() // 1_000_000)
        match action:
            case decision.Prune():
                step = Step(what="prune", n_freed=refused.prune())
            case decision.Compact():
                advice, n_freed = refused.compact(action.reason)
                step = Step(what="full", n_freed=n_freed)
            case decision.Retry():
                natives = refused.natives(session)
                advice, step = SendAgain(natives=natives, reason=action.reason), Step(what="retry")
            case decision.Overflowed() | decision.Idle() | decision.Warn() | decision.Ask():
                # The last three end no overflow.
                return GiveUp(reason=action.reason), refused.progress(cascade.tried)
            case _:
                assert_never(action)
        cascade = cascade.after(step, tool_tokens=refused.tool_tokens)
    return advice, refused.progress(cascade.tried)
