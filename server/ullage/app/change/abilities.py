"""What can be done with a session: one answer for everything that offers something."""

from collections.abc import Iterator
from typing import Literal, TypeAlias

from ullage.app.change.make import can_change
from ullage.app.checkpoint.find import known_ids
from ullage.app.checkpoint.write import session_key
from ullage.app.sessions.load import Loaded
from ullage.store.change.receipts import has_receipts
from ullage.store.files.places import Places

Ability: TypeAlias = Literal["change", "note", "undo", "restore"]
"""Change the transcript; note something in our state; take a change back; show a checkpoint."""


def abilities(loaded: Loaded, places: Places, *, may_write: bool) -> frozenset[Ability]:
    """Tell what can be done with a session, `may_write` being whether anything may be written.

    That its agent has it open is no matter here: it may have left when the user asks for it.
    """
    return frozenset(_abilities(loaded, places, may_write=may_write))


def _abilities(loaded: Loaded, places: Places, *, may_write: bool) -> Iterator[Ability]:
    context = loaded.context
    if may_write:
        yield "note"
        if can_change(loaded):
            yield "change"
            is_changed = context.compactions or context.pruned is not None
            if is_changed or has_receipts(session_key(loaded.session), places):
                yield "undo"
    if known_ids(loaded.session, places):
        yield "restore"
