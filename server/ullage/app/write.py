"""What every change to a session's transcript starts from."""

from datetime import UTC, datetime
from uuid import uuid4

import msgspec

from ullage.app.sessions import Session
from ullage.core.edit import Append, FileChange
from ullage.errors import WriteNotSupported
from ullage.formats.format import Editor
from ullage.formats.registry import editor_for
from ullage.store.reader import FileLines


class Writable(msgspec.Struct, frozen=True, kw_only=True):
    """A transcript that may be changed, and what works edits into it."""

    editor: Editor
    lines: FileLines


def writable(session: Session) -> Writable:
    """Give what is needed to append to a session.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
    """
    header = session.header
    editor = editor_for(header.agent)
    if editor is None or not isinstance(session.lines, FileLines):
        raise WriteNotSupported(
            f"Ullage only reads sessions of {header.agent}: compact, and take back, in the agent"
        )
    refusal = editor.refuse_edit(header)
    if refusal is not None:
        raise WriteNotSupported(f"{session.path.name}: {refusal}")
    return Writable(editor=editor, lines=session.lines)


def new_entry_id() -> str:
    """Make an id as pi makes them: eight hexadecimal digits."""
    return uuid4().hex[:8]


def appended_by(change: FileChange) -> bytes:
    """Give the bytes of a change that only appends.

    Raises:
        WriteNotSupported: it does more, which is not done yet.
    """
    if isinstance(change, Append):
        return change.data
    raise WriteNotSupported("Ullage only appends to transcripts yet: do this in the agent")


def now_text() -> str:
    now = datetime.now(UTC)
    return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
