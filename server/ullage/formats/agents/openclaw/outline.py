"""Lines of pi's and OpenClaw's sessions, one by one, for an outline."""

from ullage.core.documents.outline import Sketch
from ullage.core.transcript.entries import Entry, Header, Line, Problem
from ullage.formats.agents.openclaw.entries import read_entry
from ullage.formats.agents.openclaw.extension import PLAIN_KINDS
from ullage.formats.agents.openclaw.projection import item_of
from ullage.formats.json_line import ms_of


def sketch(line: Line, header: Header) -> Sketch | Problem | None:
    """Read one line; a file of version 1 has no ids, so that its lines have none."""
    entry = read_entry(line, header.version)
    if not isinstance(entry, Entry):
        return entry
    return Sketch(
        entry_id=entry.entry_id,
        parent_id=entry.parent_id,
        item=item_of(entry) if entry.kind in PLAIN_KINDS else None,
        is_compaction=entry.kind == "compaction",
        at_ms=ms_of(entry.native),
    )
