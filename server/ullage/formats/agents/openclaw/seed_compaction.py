"""Compactions in the forms of the specifications: S0's events, S3's flat entries."""

from ullage.core.change.edit import CompactionEdit
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Entry, Lines
from ullage.core.transcript.message import JsonObject
from ullage.formats.agents.openclaw.notes import events_time
from ullage.formats.agents.openclaw.seed_entries import EVENT_DETAILS
from ullage.formats.agents.openclaw.seed_path import read_event
from ullage.formats.json_line import iso_ms

EVENT_VERSION = 1
"""S0 §Forward Compatibility: "CompactionEvent has version field"."""


def events_compaction(lines: Lines, context: Context, edit: CompactionEdit) -> JsonObject:
    """Make a CompactionEvent (S0 §CompactionEvent Type).

    `details` holds what we note beside S0's own fields; S0's readers pass over it.
    """
    kept_from = next(
        at for at, item in enumerate(context.items) if item.entry_id == edit.first_kept_id
    )
    n_replaced = sum(item.category != "summary" for item in context.items[:kept_from])
    event: JsonObject = {
        "id": f"compact-{iso_ms(edit.timestamp)}",
        "type": "compaction",
        "version": EVENT_VERSION,
        "timestamp": events_time(context, edit.timestamp),
        "summary": edit.summary,
        "messagesCompacted": edit.details.get("messagesCompacted", n_replaced),
        "tokensBeforeCompaction": edit.n_tokens_before,
        "tokensAfterCompaction": edit.n_tokens_after,
        "trigger": edit.details.get("trigger", "manual"),
        "layer": edit.details.get("layer", "summarize"),
        "boundaryMessageId": _last_replaced_id(lines, edit.first_kept_id),
    }
    if "customInstruction" in edit.details:
        event["customInstruction"] = edit.details["customInstruction"]
    noted = {key: edit.details[key] for key in edit.details if key not in EVENT_DETAILS}
    return event | {"details": noted} if noted else event


def flat_compaction(context: Context, edit: CompactionEdit) -> JsonObject:
    """Make a compaction entry (S3 §Compaction Entry)."""
    at: JsonObject = {"timestamp": iso_ms(edit.timestamp), "tokensAfter": edit.n_tokens_after}
    return {
        "type": "compaction",
        "id": edit.entry_id,
        "parentId": context.leaf_id,
        "summary": edit.summary,
        "firstKeptEntryId": edit.first_kept_id,
        "tokensBefore": edit.n_tokens_before,
        "details": edit.details | at,
    }


def _last_replaced_id(lines: Lines, first_kept_id: str) -> str:
    """Name the event before the first kept one, be it a message or not."""
    is_above = False
    for line in lines.backward():
        event = read_event(line)
        if not isinstance(event, Entry):
            continue
        if is_above:
            return event.entry_id
        is_above = event.entry_id == first_kept_id
    return ""
