"""What Ullage itself notes in a rollout, in keys that Codex passes over (0.169, run)."""

from ullage.core.change.edit import PruneEdit, n_pruned
from ullage.core.transcript.context import Context, PruneRecord
from ullage.core.transcript.entries import Entry
from ullage.core.transcript.message import JsonObject
from ullage.formats.agents.codex.records import payload_of
from ullage.formats.json_line import int_of, ms_of, object_of, text_of

OWN_KEY = "ullage"
"""In the payload of a `compacted` line: our details; in that of a `token_count`: a prune."""
BEFORE_KEY = "tokensBefore"


def own_note(payload: JsonObject) -> JsonObject | None:
    return object_of(payload, OWN_KEY)


def to_prune_record(entry: Entry, note: JsonObject) -> PruneRecord:
    return PruneRecord(
        entry_id=text_of(note, "id") or "",
        at_ms=ms_of(entry.native),
        n_tokens_before=int_of(note, "tokensBefore"),
        n_tokens_after=int_of(note, "tokensAfter"),
        n_pruned=int_of(note, "pruned") or 0,
    )


def new_prune_note(context: Context, edit: PruneEdit) -> JsonObject:
    return {
        "id": edit.entry_id,
        "tokensBefore": edit.n_tokens_before,
        "tokensAfter": edit.n_tokens_after,
        "pruned": n_pruned(context.items, edit.replacements),
        "fromSession": context.header.session_id,
    }


def is_prune(entry: Entry) -> bool:
    return entry.kind == "event_msg" and own_note(payload_of(entry)) is not None
