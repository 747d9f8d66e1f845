"""What to do after a provider refused the context as too large.

Compact, send once more, then end with an error of the kind `context_overflow`
(docs/design/layers.md, "Overflow"). A prune in memory comes first where it is
enough; where no cut frees anything, the largest outputs are pruned.
"""

import time
from typing import TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

from ullage.app.runtime.progress import (
    OverflowAttempts,
    SessionProgress,
    answer_ids_of,
)
from ullage.app.runtime.request import (
    MeasuredRequest,
    RequestMessages,
    measure_request,
    put_placeholders,
    situation_of,
)
from ullage.app.runtime.session import RuntimeSession
from ullage.app.sessions.load import with_items
from ullage.core.change import decision
from ullage.core.change.compaction import Selection, hidden_tokens, select
from ullage.core.change.decision import Step, decide
from ullage.core.change.prune import PrunePlan, plan_prune, plan_rescue, pruned
from ullage.core.change.request_plan import MemoryPrune, take_prunes
from ullage.core.change.tool_outputs import tool_output_tokens
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.message import JsonObject
from ullage.core.transcript.tokens import count_items


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


def advise_on_overflow(
    session: RuntimeSession, progress: SessionProgress, request: RequestMessages
) -> tuple[OverflowAdvice, SessionProgress]:
    """Decide what frees room; an overflow is over once the model has answered again."""
    refused = _RefusedRequest(measure_request(session, progress, request))
    policy = refused.loaded.policy
    situation = situation_of(session, refused.measured, "overflow")
    advice: OverflowAdvice | None = None
    while advice is None:
        action = decide(situation, policy, time.time_ns() // 1_000_000)
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
                return GiveUp(reason=action.reason), refused.progress(situation.tried)
            case _:
                assert_never(action)
        situation = situation.after(step, tool_tokens=refused.tool_tokens)
    return advice, refused.progress(situation.tried)


class _RefusedRequest:
    """The messages that did not fit, and what is pruned of them on the way."""

    def __init__(self, measured: MeasuredRequest) -> None:
        self.measured = measured
        self.loaded = measured.loaded
        self._items: tuple[ContextItem, ...] = measured.sent.items
        self._prunes: tuple[MemoryPrune, ...] = measured.progress.prunes.items

    @property
    def tool_tokens(self) -> int:
        return tool_output_tokens(self._items, self.loaded.count)

    def prune(self) -> int:
        return self._apply(plan_prune(self._items, self.loaded.policy, self.loaded.count))

    def compact(self, reason: str) -> tuple[CompactFirst | None, int]:
        """Have the runtime compact, or prune the largest outputs where that leaves too much."""
        gauge, policy, count = self.loaded.status.gauge, self.loaded.policy, self.loaded.count
        conversation = self.measured.conversation
        talked = with_items(self.loaded, conversation.items).context
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
        n_hidden = hidden_tokens(gauge, count_items(self.measured.sent.items, count))
        room = gauge.window.n_tokens - policy.reserve_tokens - n_hidden
        return self._apply(plan_rescue(self._items, policy, count, room_tokens=room))

    def _apply(self, plan: PrunePlan) -> int:
        self._items = pruned(self._items, plan.replacements)
        self._prunes += take_prunes(plan)
        return plan.n_freed
