"""What the proposals that are open are checked against, kept from one check to the next."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock

import msgspec

from ullage.app.sessions.session import Session
from ullage.core.summary.audit import Fact
from ullage.core.summary.sources import Sources
from ullage.core.transcript.context import ContextItem

MAX_KEPT = 2
"""Proposals whose messages are in memory: a user edits one at a time (chosen)."""


class CheckMaterial(msgspec.Struct, frozen=True, kw_only=True):
    """What a proposal is checked against; read once, as a user types many letters."""

    items: tuple[ContextItem, ...]
    """What would be replaced, without secrets."""
    expected: tuple[Fact, ...]
    """What a summary of them has to hold beside the pins."""
    session: Session
    known_secrets: tuple[str, ...]
    kept: tuple[ContextItem, ...]
    """What would stay: a pinned message among it needs no copy."""
    budget_tokens: int
    sources: Sources
    """Of the lines of a summary of the messages."""


class KeptMaterials:
    """The material of each open proposal, by its path; callable from any thread."""

    def __init__(self) -> None:
        self._kept: dict[Path, tuple[object, CheckMaterial | None]] = {}
        self._lock = Lock()

    def of(
        self, proposed_path: Path, preview: object, read: Callable[[], CheckMaterial | None]
    ) -> CheckMaterial | None:
        """Give what a preview is checked against, read again where it is another one now."""
        with self._lock:
            kept = self._kept.get(proposed_path)
            if kept is None or kept[0] != preview:
                kept = self._kept[proposed_path] = preview, read()
                for old in tuple(self._kept)[:-MAX_KEPT]:
                    self.forget(old)
        return kept[1]

    def forget(self, proposed_path: Path) -> None:
        """Free the messages of a proposal that is closed, applied or discarded.

        It does not wait for one that is read just now: that goes when others take its place.
        """
        self._kept.pop(proposed_path, None)
