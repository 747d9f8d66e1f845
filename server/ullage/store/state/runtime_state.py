"""What is kept of a session whose messages its runtime holds, so that a restart changes nothing."""

from pathlib import Path
from typing import Literal

import msgspec

from ullage.core.change.edit import Replacement
from ullage.core.change.prune import PruneItem
from ullage.store.files.places import Places, session_folder
from ullage.store.files.state_file import StateFile, read_state, replace_state

VERSION = 1
FILE_NAME = "held.json"


class HeldState(msgspec.Struct, frozen=True, kw_only=True):
    n_compactions: int
    summary_id: str | None
    """The message that held the last summary."""
    replaced_id: str | None
    """The first message for which a summary stands that was answered and not yet seen applied."""
    n_tokens_after: int | None
    is_restore_due: bool
    pruned: tuple[PruneItem, ...]
    """Without their labels, which are words of the transcript."""
    unseen: tuple[PruneItem, ...]
    """Those of `pruned` that no answer of the model was given since."""
    answer_id: str | None
    """The last answer before those; None without any."""


class HeldPrune(msgspec.Struct, frozen=True, kw_only=True):
    entry_id: str
    what: Literal["output", "images"]
    call_id: str | None
    n_tokens: int
    n_freed: int
    is_unseen: bool


class HeldFile(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `held.json`."""

    version: int
    n_compactions: int
    summary_id: str | None
    replaced_id: str | None
    n_tokens_after: int | None
    is_restore_due: bool
    pruned: tuple[HeldPrune, ...]
    answer_id: str | None


def read_held_state(session_key: str, places: Places) -> HeldState | None:
    """Read the state of a session; a file that cannot be read counts as none."""
    content = _read(session_key, places).content
    if content is None:
        return None
    items = [(_item(one), one.is_unseen) for one in content.pruned]
    return HeldState(
        n_compactions=content.n_compactions,
        summary_id=content.summary_id,
        replaced_id=content.replaced_id,
        n_tokens_after=content.n_tokens_after,
        is_restore_due=content.is_restore_due,
        pruned=tuple(item for item, _ in items),
        unseen=tuple(item for item, is_unseen in items if is_unseen),
        answer_id=content.answer_id,
    )


def write_held_state(session_key: str, state: HeldState, places: Places) -> None:
    """Replace the state of a session.

    Raises:
        StateUnwritable: the state folder does not take it; the old file is intact.
        StorageError: a newer version wrote the file.
    """
    unseen = {one.replacement for one in state.unseen}
    content = HeldFile(
        version=VERSION,
        n_compactions=state.n_compactions,
        summary_id=state.summary_id,
        replaced_id=state.replaced_id,
        n_tokens_after=state.n_tokens_after,
        is_restore_due=state.is_restore_due,
        pruned=tuple(
            HeldPrune(
                entry_id=one.replacement.entry_id,
                what=one.replacement.what,
                call_id=one.replacement.call_id,
                n_tokens=one.n_tokens,
                n_freed=one.n_freed,
                is_unseen=one.replacement in unseen,
            )
            for one in state.pruned
        ),
        answer_id=state.answer_id,
    )
    replace_state(_path(session_key, places), _read(session_key, places), content)


def _item(one: HeldPrune) -> PruneItem:
    return PruneItem(
        item_id=one.call_id or one.entry_id,
        replacement=Replacement(entry_id=one.entry_id, what=one.what, call_id=one.call_id),
        tool="",
        label="",
        reason="old output",
        n_tokens=one.n_tokens,
        n_freed=one.n_freed,
        is_chosen=True,
    )


def _path(session_key: str, places: Places) -> Path:
    return session_folder("state", session_key, places) / FILE_NAME


def _read(session_key: str, places: Places) -> StateFile[HeldFile]:
    return read_state(_path(session_key, places), HeldFile, VERSION)
