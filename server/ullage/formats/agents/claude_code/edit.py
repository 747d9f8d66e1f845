"""Edits of Claude Code's sessions: the session goes on in a new file, the old one stays.

A running Claude Code holds its history in memory and may rewrite the file, so that nothing is
ever put into one (docs/design/agents.md, "Writing to a session").
"""

from collections.abc import Sequence

import msgspec

from ullage.core.change.edit import (
    CompactionEdit,
    LinesBefore,
    NewSession,
    PruneEdit,
    RestoreEdit,
    UndoEdit,
    by_entry,
)
from ullage.core.transcript.context import Compaction, Context
from ullage.core.transcript.entries import Entry, Header, Lines
from ullage.core.transcript.injected import PREFACE
from ullage.core.transcript.message import JsonObject
from ullage.errors import Refused, WriteNotSupported
from ullage.formats.agent_info import Editor
from ullage.formats.agents.claude_code.conversation import (
    Conversation,
    cleared_calls,
    items_of,
    sent_entries,
)
from ullage.formats.agents.claude_code.copying import Copier, derived_id, live_conversation
from ullage.formats.agents.claude_code.records import (
    is_boundary_entry,
    metadata_of,
    new_prune_note,
    read_entry,
)
from ullage.formats.json_line import text_of
from ullage.formats.notes import FROM_SESSION, OWN_KEY, own_note, refuse_undo_of_first


def _refuse(header: Header) -> str | None:
    if header.parent_session_id is None:
        return None
    return (
        "a subagent's transcript cannot be resumed by itself:"
        f" change the session that it belongs to, {header.parent_session_id}"
    )


def _compact(lines: Lines, context: Context, edit: CompactionEdit) -> NewSession:
    """Begin a session with the kept records, a boundary that preserves them, and the summary.

    That is how Claude Code itself keeps records beyond a compaction: it sends them after the
    summary and takes the usage in them for nothing, as we do (2.1.197, read and run).
    """
    entries = sent_entries(live_conversation(lines, context))
    at = next(n for n, entry in enumerate(entries) if entry.entry_id == edit.first_kept_id)
    kept = [e for e in entries[at:] if not is_boundary_entry(e) and not cleared_calls(e)]
    copier = Copier(lines, context, edit.entry_id, edit.timestamp)
    for entry in kept:
        copier.add(entry)
    copier.start_chain()
    last = entries[-1]
    boundary_id = derived_id(context.header, copier.session_id, "boundary")
    summary_id = derived_id(context.header, copier.session_id, "summary")
    copier.add_new(
        {
            "logicalParentUuid": last.entry_id,
            "type": "system",
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "isMeta": False,
            "timestamp": edit.timestamp,
            "level": "info",
            "compactMetadata": _metadata(context, edit, kept, summary_id),
        },
        boundary_id,
        last,
    )
    copier.add_new(
        {
            "type": "user",
            "message": {"role": "user", "content": PREFACE + edit.summary},
            "isVisibleInTranscriptOnly": True,
            "isCompactSummary": True,
            "timestamp": edit.timestamp,
        },
        summary_id,
        last,
    )
    copier.add_settings()
    return copier.new_session()


def _prune(lines: Lines, context: Context, edit: PruneEdit) -> NewSession:
    """Copy the conversation with placeholders in it, and note the prune behind it.

    Claude Code takes the last answer's usage for the size of its context, and would compact the
    copy at once: that answer reports what is left.
    """
    conversation = msgspec.structs.replace(live_conversation(lines, context), pruned=None)
    copier = Copier(lines, context, edit.entry_id, edit.timestamp)
    copier.report_usage(conversation, edit.n_tokens_after)
    copier.add_thread(conversation, by_entry(edit.replacements))
    copier.add_settings({one.call_id for one in edit.replacements if one.call_id is not None})
    copier.add_note(new_prune_note(context, edit))
    return copier.new_session()


def _undo_compaction(
    lines: Lines, context: Context, compaction: Compaction, edit: UndoEdit
) -> NewSession:
    """Copy the conversation as it was when the boundary was written; what followed stays behind.

    Raises:
        Refused: the lines from before the compaction are not in the file.
    """
    before = _lines_before(lines, context, compaction)
    refs = tuple(ref for ref in context.compactions if ref.offset < before.size_bytes)
    earlier = msgspec.structs.replace(context, compactions=refs)
    conversation = live_conversation(before, earlier)
    earlier = msgspec.structs.replace(earlier, items=items_of(conversation))
    copier = Copier(before, earlier, edit.entry_id, edit.timestamp)
    copier.add_thread(conversation, {})
    copier.add_settings()
    return copier.new_session()


def _restore(lines: Lines, context: Context, edit: RestoreEdit) -> NewSession:
    """Copy the conversation with the text behind it.

    Raises:
        WriteNotSupported: there is no conversation.
    """
    conversation = live_conversation(lines, context)
    copier = Copier(lines, context, edit.entry_id, edit.timestamp)
    copier.add_thread(conversation, {})
    _add_text(copier, context, edit, _last(conversation))
    copier.add_settings()
    return copier.new_session()


def _begin(lines: Lines, context: Context, edit: RestoreEdit) -> NewSession:
    """Begin a session of the same folder with the text alone.

    Raises:
        WriteNotSupported: there is no conversation whose surroundings could be taken over.
    """
    last = _last(live_conversation(lines, context))
    copier = Copier(lines, context, edit.entry_id, edit.timestamp)
    _add_text(copier, context, edit, last)
    return copier.new_session()


def _last(conversation: Conversation) -> Entry:
    entries = sent_entries(conversation)
    if not entries:
        raise WriteNotSupported("the session has no messages")
    return entries[-1]


def _add_text(copier: Copier, context: Context, edit: RestoreEdit, neighbor: Entry) -> None:
    """Add a user's message.

    When Claude Code resumes a session that ends with one, it puts an answer of its own behind that,
    "No response requested." (2.1.197, run; a message that it hides gets the same).
    """
    message = {"role": "user", "content": edit.text}
    record: JsonObject = {"type": "user", "message": message, "timestamp": edit.timestamp}
    copier.add_new(record, derived_id(context.header, copier.session_id, "checkpoint"), neighbor)


def _metadata(
    context: Context, edit: CompactionEdit, kept: Sequence[Entry], summary_id: str
) -> JsonObject:
    kept_ids = [entry.entry_id for entry in kept]
    trigger = text_of(edit.details, "trigger")
    metadata: JsonObject = {
        "trigger": trigger if trigger in ("manual", "auto") else "manual",
        "preTokens": edit.n_tokens_before,
    }
    if edit.n_tokens_after is not None:
        metadata["postTokens"] = edit.n_tokens_after
    return metadata | {
        "preservedSegment": {
            "headUuid": kept_ids[0],
            "anchorUuid": summary_id,
            "tailUuid": kept_ids[-1],
        },
        "preservedMessages": {
            "anchorUuid": summary_id,
            "uuids": kept_ids,
            "allUuids": kept_ids,
        },
        OWN_KEY: edit.details | {FROM_SESSION: context.header.session_id},
    }


def _lines_before(lines: Lines, context: Context, compaction: Compaction) -> LinesBefore:
    """Give the file as it was before a compaction.

    The boundary names the record that it was written after: a user may have gone back to it, so
    that what lies between was not in the context.
    """
    ref = next(ref for ref in context.compactions if ref.entry_id == compaction.entry_id)
    boundary = read_entry(next(lines.forward(ref.offset)))
    metadata = metadata_of(boundary) if isinstance(boundary, Entry) else {}
    refuse_undo_of_first(own_note(metadata), "claude --resume")
    leaf_id = text_of(boundary.native, "logicalParentUuid") if isinstance(boundary, Entry) else None
    before = LinesBefore(lines, ref.offset)
    for line in before.backward():
        entry = read_entry(line)
        if isinstance(entry, Entry) and entry.entry_id == leaf_id:
            return LinesBefore(lines, line.offset + len(line.raw))
    raise Refused(
        "the lines from before the last compaction are not in this session's file any more,"
        " so that it cannot be undone: see its checkpoints (ullage checkpoint list)"
    )


EDITOR = Editor(
    refuse=_refuse,
    compact=_compact,
    prune=_prune,
    restore=_restore,
    begin=_begin,
    undo_compaction=_undo_compaction,
)
