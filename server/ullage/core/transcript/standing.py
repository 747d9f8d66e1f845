"""Standing messages: a system prompt among the messages, for which no summary stands.

Most runtimes send it apart from the conversation. Where it is one of the messages it must
outlive every compaction, and with it what a runtime says later in the same role: nobody but the
runtime can tell that an instruction of its own is over.
"""

from collections.abc import Sequence

import msgspec

from ullage.core.transcript.context import ContextItem


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """The messages without those that stand."""

    items: tuple[ContextItem, ...]
    places: tuple[int, ...]
    """Where each of them is among all messages."""
    n_messages: int
    """All messages, those that stand included."""

    def place_of(self, at: int) -> int:
        """Give the place among all messages; the end is the end of both."""
        return self.places[at] if at < len(self.places) else self.n_messages

    def position_of(self, place: int) -> int:
        """Give the position of the first message at a place among all, or behind it."""
        return sum(known < place for known in self.places)

    def standing_before(self, place: int) -> tuple[int, ...]:
        """List the places of standing messages before a place."""
        return tuple(sorted(set(range(place)) - set(self.places)))


def conversation_of(items: Sequence[ContextItem]) -> Conversation:
    """Take out what stands; what is sent in the system's role but is ours is not part of that."""
    places = tuple(at for at, item in enumerate(items) if not _is_standing(item))
    return Conversation(
        items=tuple(items[at] for at in places), places=places, n_messages=len(items)
    )


def _is_standing(item: ContextItem) -> bool:
    is_system = item.category == "system" and item.message.role == "system"
    return is_system and bool(item.message.blocks)
