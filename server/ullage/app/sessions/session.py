"""A session whose format is known; apart from `open`, which knows all the formats."""

from pathlib import Path

import msgspec

from ullage.core.transcript.entries import Header
from ullage.formats.format import Format
from ullage.store.transcript.reader import Source


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A session whose format is known."""

    header: Header
    transcript_format: Format | None
    """None where its runtime holds the messages."""
    lines: Source
    key: str | None = None
    """Names its state on disk, where a runtime says so; else agent and id do."""
    runtime: str = ""
    """Name of the runtime that holds the messages."""

    @property
    def format(self) -> Format:
        """The format of a session that was read from a transcript."""
        if self.transcript_format is None:
            raise AssertionError("a transcript has a format")
        return self.transcript_format

    @property
    def path(self) -> Path:
        return self.lines.path
