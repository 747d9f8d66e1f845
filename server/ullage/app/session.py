"""A session whose format is known; apart from `sessions`, which knows all the formats."""

from pathlib import Path

import msgspec

from ullage.core.transcript import Header
from ullage.formats.format import Format
from ullage.store.source import Source


class Session(msgspec.Struct, frozen=True, kw_only=True):
    header: Header
    format: Format
    lines: Source
    key: str | None = None
    """Names its state on disk, where a runtime says so; else agent and id do."""

    @property
    def path(self) -> Path:
        return self.lines.path


def session_of(known: Format, header: Header, lines: Source) -> Session:
    """Make a session of a file and what its header says."""
    if not header.session_id:
        # Some formats leave the id to the name of the file.
        header = msgspec.structs.replace(header, session_id=lines.path.stem)
    return Session(format=known, header=header, lines=lines)
