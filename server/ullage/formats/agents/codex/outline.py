"""Lines of a Codex rollout, one by one, for an outline."""

from ullage.core.documents.outline import Sketch
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Entry, Header, Line, Problem
from ullage.formats.agents.codex.messages import is_sent, to_message
from ullage.formats.agents.codex.records import payload_of, read_entry
from ullage.formats.json_line import ms_of


def sketch(line: Line, header: Header) -> Sketch | Problem | None:
    del header
    entry = read_entry(line)
    if not isinstance(entry, Entry):
        return entry
    return Sketch(
        entry_id=entry.entry_id,
        parent_id=None,
        item=_item(entry) if entry.kind == "response_item" else None,
        is_compaction=entry.kind == "compacted",
        at_ms=ms_of(entry.native),
    )


def _item(entry: Entry) -> ContextItem | None:
    native = payload_of(entry)
    if not is_sent(native):
        return None
    message, category = to_message(native, {})
    return ContextItem(
        entry_id=entry.entry_id,
        message=message,
        category=category,
        native=native,
        at_ms=ms_of(entry.native),
        is_after_boundary=True,
    )
