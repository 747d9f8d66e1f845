"""What to do after a provider refused a context as too large.

Compact, send once more, then end with an error of the kind `context_overflow`
(docs/design/layers.md, "Overflow"). A prune in memory comes first where it is
enough; where no cut frees anything, the largest outputs are pruned.
"""

import time
from typing import TypeAlias, assert_never

import msgspec

from ullage.app.change.prune import natives_with_placeholders
from ullage.app.runtime.session import (
    Attached,
    Call,
    Held,
    Progress,
    answered_ids,
    load_call,
    with_pruned,
)
from ullage.app.sessions.load import with_items
from ullage.core.change.compaction import Selection, hidden_tokens, select
from ullage.core.change.decision import (
    Ask,
    Compact,
    Idle,
    Overflowed,
    Prune,
    Retry,
    Situation,
    Step,
    Warn,
    decide,
)
from ullage.core.change.prune import PruneItem, PrunePlan, plan_prune, plan_rescue, pruned
from ullage.core.change.tool_outputs import tool_output_tokens
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.message import JsonObject
from ullage.core.transcript.tokens import count_items
from ullage.store.state.auto_state import read_auto_state


class CompactFirst(msgspec.Struct, frozen=True, kw_only=True):
    """The runtime is to compact, apply it, and send once more."""

    selection: Selection
    first_kept: int
    """The place of the first message that stays, but for standing ones."""
    reason: str


class SendAgain(msgspec.Struct, frozen=True, kw_only=True):
    """The runtime is to send once more with these messages in the place of its own."""

    natives: dict[int, JsonObject]
    reason: str


class GiveUp(msgspec.Struct, frozen=True, kw_only=True):
    """The turn ends with an error of the kind `context_overflow`."""

    reason: str


Advised: TypeAlias = CompactFirst | SendAgain | GiveUp


def on_overflow(attached: Attached, progress: Progress, call: Call) -> tuple[Advised, Progress]:
    """Decide what frees room; an overflow is over once the model has answered again."""
    held = load_call(attached, progress, call)
    room = _Room(held)
    situation = _situation(attached, held)
    while True:
        action = decide(situation, held.loaded.policy, time.time_ns() // 1_000_000)
        match action:
            case Prune():
                step = Step(what="prune", n_freed=room.prune())
            case Compact():
                advised, step = _compact(held, room, action.reason)
                if advised is not None:
                    return advised, _after(held, room, (*situation.tried, step))
            case Retry():
                tried = (*situation.tried, Step(what="retry"))
                natives = room.natives(attached)
                return SendAgain(natives=natives, reason=action.reason), _after(held, room, tried)
            case Overflowed() | Idle() | Warn() | Ask():  # the last three end no overflow
                return GiveUp(reason=action.reason), _after(held, room, situation.tried)
            case _:
                assert_never(action)
        used = situation.used_tokens
        situation = msgspec.structs.replace(
            situation,
            used_tokens=None if used is None else max(0, used - step.n_freed),
            tool_tokens=tool_output_tokens(room.items, held.loaded.count),
            tried=(*situation.tried, step),
        )


def _situation(attached: Attached, held: Held) -> Situation:
    gauge = held.loaded.status.gauge
    state = read_auto_state(attached.key, attached.places)
    return Situation(
        occasion="overflow",
        used_tokens=gauge.used_tokens,
        window_tokens=gauge.window.n_tokens,
        tool_tokens=tool_output_tokens(held.sent.items, held.loaded.count),
        n_compactions=held.progress.n_compactions,
        breaker=state.breaker,
        started_tokens=gauge.used_tokens,
        tried=held.progress.tried,
        is_auto_on=state.is_on,
        is_prune_in_memory=True,
    )


def _compact(held: Held, room: "_Room", reason: str) -> tuple[CompactFirst | None, Step]:
    """Have the runtime compact, or prune the largest outputs where that leaves too much."""
    selection = room.selection()
    is_enough = selection is not None and room.is_enough(selection)
    n_freed = 0 if is_enough else room.rescue()
    step = Step(what="full", n_freed=n_freed)
    if selection is None or n_freed > 0:
        return None, step
    # What the runtime makes of it is not known here; one compaction is tried.
    place = held.conversation.place_of(selection.cut.first_kept)
    return CompactFirst(selection=selection, first_kept=place, reason=reason), step


class _Room:
    """The messages of a request that did not fit, and what is pruned of them on the way."""

    def __init__(self, held: Held) -> None:
        self._held = held
        self.items: tuple[ContextItem, ...] = held.sent.items
        self.pruned: tuple[PruneItem, ...] = held.progress.pruned

    def prune(self) -> int:
        loaded = self._held.loaded
        return self._take(plan_prune(self.items, loaded.policy, loaded.count))

    def rescue(self) -> int:
        """Prune the largest outputs, recent ones too, until the messages fit the window."""
        loaded = self._held.loaded
        gauge, count = loaded.status.gauge, loaded.count
        n_hidden = hidden_tokens(gauge, count_items(self._held.sent.items, count))
        room = gauge.window.n_tokens - loaded.policy.reserve_tokens - n_hidden
        return self._take(plan_rescue(self.items, loaded.policy, count, room_tokens=room))

    def selection(self) -> Selection | None:
        """Select what a full compaction replaces; None where nothing can go."""
        loaded = self._held.loaded
        gauge = loaded.status.gauge
        talked = with_items(loaded, self._held.conversation.items).context
        found = select(talked, gauge, "full", loaded.policy, loaded.count)
        return found if isinstance(found, Selection) else None

    def is_enough(self, found: Selection) -> bool:
        """Whether what a compaction keeps fits the window, by what we know of it."""
        n_left = found.n_tokens_hidden + found.cut.n_tokens_kept + found.summary_budget_tokens
        return n_left < self._held.loaded.status.gauge.window.n_tokens

    def natives(self, attached: Attached) -> dict[int, JsonObject]:
        items = self._held.loaded.context.items
        return natives_with_placeholders(items, self.pruned, attached.shape.prune_message)

    def _take(self, plan: PrunePlan) -> int:
        self.items = pruned(self.items, plan.replacements)
        self.pruned = (*self.pruned, *(item for item in plan.items if item.is_chosen))
        return plan.n_freed


def _after(held: Held, room: _Room, tried: tuple[Step, ...]) -> Progress:
    return msgspec.structs.replace(
        with_pruned(held.progress, room.pruned),
        tried=tried,
        answered_ids=answered_ids(held.loaded.context),
    )
