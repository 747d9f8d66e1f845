"""Checkpoints given back to sessions of Codex: as a user's message of a new rollout."""

from ullage.core.change.edit import NewSession, RestoreEdit
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Lines
from ullage.formats.agents.codex.compaction import summary_message
from ullage.formats.agents.codex.copying import Copier, last_settings, live_history, live_offsets


def restore(lines: Lines, context: Context, edit: RestoreEdit) -> NewSession:
    """Copy the live lines with the text behind them."""
    copier = Copier(lines, context, entry_id=edit.entry_id, timestamp=edit.timestamp)
    copier.add_header()
    for offset in live_offsets(lines, live_history(lines, context)):
        copier.add_line(offset, {})
    _add_text(copier, edit)
    return copier.new_session()


def begin(lines: Lines, context: Context, edit: RestoreEdit) -> NewSession:
    """Begin a thread of the same folder, with the model of this one, by the text alone."""
    copier = Copier(lines, context, entry_id=edit.entry_id, timestamp=edit.timestamp)
    copier.add_header()
    settings = last_settings(lines)
    if settings is not None:
        copier.add_line(settings, {})
    _add_text(copier, edit)
    return copier.new_session()


def undo_restore(lines: Lines, context: Context, *, entry_id: str, timestamp: str) -> None:
    """Give up: the session with the text is a file of its own, and the old one is as it was."""
    del lines, context, entry_id, timestamp


def _add_text(copier: Copier, edit: RestoreEdit) -> None:
    """Add what goes to the model, and the event by which Codex shows and lists it."""
    copier.add_new("response_item", summary_message(edit.text))
    copier.add_new("event_msg", {"type": "user_message", "message": edit.text})
