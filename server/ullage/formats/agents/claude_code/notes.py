"""What Ullage itself notes in a session of Claude Code, where the agent does not look."""

from ullage.core.change.edit import PruneEdit, n_pruned
from ullage.core.transcript.context import Context, PruneRecord
from ullage.core.transcript.entries import Entry
from ullage.core.transcript.message import JsonObject
from ullage.formats.agents.claude_code.records import Stub
from ullage.formats.json_line import int_of, ms_of, object_of, text_of

PRUNE_NOTE = "ullage-prune"
"""Type of the record behind a prune. It has no uuid, so that it is no part of the thread."""
OWN_KEY = "ullage"
"""Where our details stand in the metadata of a boundary."""


def is_prune_note(stub: Stub) -> bool:
    return stub.type == PRUNE_NOTE


def to_prune_record(note: Entry) -> PruneRecord:
    return PruneRecord(
        entry_id=text_of(note.native, "id") or "",
        at_ms=ms_of(note.native),
        n_tokens_before=int_of(note.native, "tokensBefore"),
        n_tokens_after=int_of(note.native, "tokensAfter"),
        n_pruned=int_of(note.native, "pruned") or 0,
    )


def new_prune_note(context: Context, edit: PruneEdit) -> JsonObject:
    return {
        "type": PRUNE_NOTE,
        "id": edit.entry_id,
        "timestamp": edit.timestamp,
        "tokensBefore": edit.n_tokens_before,
        "tokensAfter": edit.n_tokens_after,
        "pruned": n_pruned(context.items, edit.replacements),
        "fromSession": context.header.session_id,
    }


def own_details(metadata: JsonObject) -> JsonObject | None:
    """Give what we noted of a compaction; None where the agent made it."""
    return object_of(metadata, OWN_KEY)
