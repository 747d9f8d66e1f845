"""Facts of a session that is read again and again: of its messages only new ones are read."""

from collections.abc import Sequence
from functools import lru_cache, partial
from threading import Lock

from ullage.core.facts.facts import FactAccumulator, Facts
from ullage.core.facts.summary_sections import PreviousSummary
from ullage.core.secrets.scan import mask_cached
from ullage.core.transcript.context import ContextItem

MAX_KEPT = 4
"""Sessions that one process follows at a time (chosen); each keeps its messages in memory."""


class KeptFacts:
    """What was gathered from one session so far; callable from any thread."""

    def __init__(self) -> None:
        self._items: tuple[ContextItem, ...] = ()
        self._secrets: tuple[str, ...] = ()
        self._seen: FactAccumulator | None = None
        self._lock = Lock()

    def collect(
        self,
        items: Sequence[ContextItem],
        previous: PreviousSummary | None,
        known_secrets: tuple[str, ...],
    ) -> Facts:
        """Collect the facts of messages, as `collect_facts` does, with their secrets masked.

        Where they begin with the messages of the last call, it goes on from there.
        """
        with self._lock:
            # Put back when all went well: half of a message is nothing to go on from.
            seen, self._seen = self._seen, None
            if seen is None or self._secrets != known_secrets or not self._are_followed(items):
                seen = FactAccumulator(clean=partial(mask_cached, known=known_secrets))
            seen.update(items[len(seen.times) :])
            facts = seen.finish(previous)
            self._items, self._secrets, self._seen = tuple(items), known_secrets, seen
            return facts

    def _are_followed(self, items: Sequence[ContextItem]) -> bool:
        # The same messages may be read anew, with each request of a runtime that holds them.
        return len(items) >= len(self._items) and all(
            old is new
            or (
                old.at_ms == new.at_ms
                and old.category == new.category
                and old.message == new.message
            )
            for old, new in zip(self._items, items, strict=False)
        )


@lru_cache(maxsize=MAX_KEPT)
def kept_facts(session_key: str) -> KeptFacts:
    """Give what was gathered in this process from the session that the key names."""
    return KeptFacts()
