"""Records of Claude Code, one by one, for an outline."""

from ullage.core.documents.outline import Sketch
from ullage.core.transcript.entries import Entry, Header, Line, Problem
from ullage.formats.agents.claude_code.items import item_of
from ullage.formats.agents.claude_code.records import is_boundary_entry, read_entry
from ullage.formats.json_line import ms_of, text_of


def sketch(line: Line, header: Header) -> Sketch | Problem | None:
    """Read one record; those of another thread in the same file send nothing."""
    entry = read_entry(line)
    if not isinstance(entry, Entry):
        return entry
    is_boundary = is_boundary_entry(entry)
    is_sidechain = entry.native.get("isSidechain") is True
    is_ours = is_sidechain == (header.parent_session_id is not None)
    return Sketch(
        entry_id=entry.entry_id,
        # A boundary has no parent; what it replaced is told apart.
        parent_id=text_of(entry.native, "logicalParentUuid") if is_boundary else entry.parent_id,
        item=item_of(entry, {}) if is_ours else None,
        is_compaction=is_boundary,
        at_ms=ms_of(entry.native),
    )
