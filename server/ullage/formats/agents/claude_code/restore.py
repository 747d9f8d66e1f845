"""Checkpoints given back to sessions of Claude Code: as a user's message of a new session file.

When Claude Code resumes a session that ends with a user's message, it puts an answer of its own
behind that, "No response requested." (2.1.197, run; a message that it hides gets the same).
"""

from ullage.core.change.edit import NewSession, RestoreEdit
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Entry, Lines
from ullage.errors import WriteNotSupported
from ullage.formats.agents.claude_code.conversation import Conversation
from ullage.formats.agents.claude_code.copying import (
    Copier,
    derived_id,
    live_conversation,
    new_session,
    new_session_id,
)
from ullage.formats.agents.claude_code.items import sent_entries


def restore(lines: Lines, context: Context, edit: RestoreEdit) -> NewSession:
    """Copy the conversation with the text behind it.

    Raises:
        WriteNotSupported: there is no conversation.
    """
    conversation = live_conversation(lines, context)
    session_id = new_session_id(context, edit.entry_id, edit.timestamp)
    copier = Copier(lines, context, session_id)
    copier.add_thread(conversation, {})
    _add_text(copier, context, session_id, edit, _last(conversation))
    copier.add_settings()
    return new_session(session_id, copier)


def begin(lines: Lines, context: Context, edit: RestoreEdit) -> NewSession:
    """Begin a session of the same folder with the text alone.

    Raises:
        WriteNotSupported: there is no conversation whose surroundings could be taken over.
    """
    last = _last(live_conversation(lines, context))
    session_id = new_session_id(context, edit.entry_id, edit.timestamp)
    copier = Copier(lines, context, session_id)
    _add_text(copier, context, session_id, edit, last)
    return new_session(session_id, copier)


def undo_restore(lines: Lines, context: Context, *, entry_id: str, timestamp: str) -> None:
    """Give up: the session with the text is a file of its own, and the old one is as it was."""
    del lines, context, entry_id, timestamp


def _last(conversation: Conversation) -> Entry:
    entries = sent_entries(conversation)
    if not entries:
        raise WriteNotSupported("the session has no messages")
    return entries[-1]


def _add_text(
    copier: Copier, context: Context, session_id: str, edit: RestoreEdit, neighbor: Entry
) -> None:
    copier.add_new(
        {
            "type": "user",
            "message": {"role": "user", "content": edit.text},
            "timestamp": edit.timestamp,
        },
        derived_id(context.header, session_id, "checkpoint"),
        neighbor,
    )
