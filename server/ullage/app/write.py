"""What every change to a session's transcript starts from."""

from datetime import UTC, datetime
from uuid import uuid4

import msgspec

from ullage.app.sessions import Session
from ullage.errors import WriteNotSupported
from ullage.formats.format import Appender
from ullage.formats.registry import appender_for
from ullage.store.reader import FileLines


class Writable(msgspec.Struct, frozen=True, kw_only=True):
    """A transcript that may be appended to, and what makes its lines."""

    appender: Appender
    lines: FileLines

    def after_line_end(self, line: bytes) -> bytes:
        """Begin with a line end where the last line of the transcript has none."""
        last = next(self.lines.backward())
        return b"\n" + line if last.is_torn else line


def writable(session: Session) -> Writable:
    """Give what is needed to append to a session.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
    """
    header = session.header
    appender = appender_for(header.agent)
    if appender is None or not isinstance(session.lines, FileLines):
        raise WriteNotSupported(
            f"Ullage only reads sessions of {header.agent}: compact, and take back, in the agent"
        )
    refusal = appender.refuse_write(header)
    if refusal is not None:
        raise WriteNotSupported(f"{session.path.name}: {refusal}")
    return Writable(appender=appender, lines=session.lines)


def new_entry_id() -> str:
    """Make an id as pi makes them: eight hexadecimal digits."""
    return uuid4().hex[:8]


def now_text() -> str:
    now = datetime.now(UTC)
    return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
