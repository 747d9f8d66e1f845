"""The conversation of the example agent, and the file from which its next run goes on."""

from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import msgspec

from ullage.agent import protocol
from ullage.core.transcript.entries import JsonObject


class NotAHistory(Exception):
    """The file is something else; it is left as it is."""


class Line(msgspec.Struct, omit_defaults=True):
    """A line of the file that the history is kept in."""

    session_id: str = ""
    summary: JsonObject | None = None
    """Stands for all messages so far but the last `n_kept`."""
    n_kept: int = 0
    messages: tuple[JsonObject, ...] = ()
    """Said after that."""
    usage: protocol.Usage | None = None
    """As it is known now, where that changed."""


class History:
    """The messages behind the system prompt. Their file is only appended to, and gone through again
    by the next run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.session_id = ""
        self.messages: list[JsonObject] = []
        self.usage: protocol.Usage | None = None
        path.touch(mode=0o600)
        text = path.read_text("utf-8", "replace")
        for line in text.splitlines():
            with suppress(msgspec.DecodeError):  # the last one, where a run was killed
                self._apply(msgspec.json.decode(line, type=Line))
        if not self.session_id and text:
            raise NotAHistory(f"{path} is not a history of this agent: give another --history")
        if not self.session_id:
            self._write(Line(session_id=str(uuid4())))

    def add(self, *messages: JsonObject, usage: protocol.Usage | None = None) -> None:
        """Add messages that belong together: a call is nothing without its result."""
        self._write(Line(messages=messages, usage=usage))

    def compact(self, summary: JsonObject, n_kept: int, used_tokens: int) -> None:
        n_messages = 2 + n_kept  # with the system prompt and the summary
        usage = protocol.Usage(used_tokens=used_tokens, n_messages=n_messages)
        self._write(Line(summary=summary, n_kept=n_kept, usage=usage))

    def _write(self, line: Line) -> None:
        with self.path.open("ab") as file:
            file.write(b"\n" + msgspec.json.encode(line))  # never behind a line that was cut off
        self._apply(line)

    def _apply(self, line: Line) -> None:
        self.session_id = line.session_id or self.session_id
        if line.summary is not None:
            self.messages = [line.summary, *self.messages[len(self.messages) - line.n_kept :]]
        self.messages += line.messages
        self.usage = line.usage or self.usage
