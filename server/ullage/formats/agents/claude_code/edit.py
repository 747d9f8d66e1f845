"""Edits of Claude Code's sessions: the session goes on in a new file, the old one stays.

A running Claude Code holds its history in memory and may rewrite the file, so that nothing is
ever put into one (research/agents.md §0.5).
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ullage.core.change.edit import (
    CompactionEdit,
    LineChange,
    LinesBefore,
    NewSession,
    PruneEdit,
    Replacement,
)
from ullage.core.transcript.context import Compaction, Context
from ullage.core.transcript.entries import Entry, Header, Lines
from ullage.core.transcript.injected import PREFACE
from ullage.core.transcript.message import JsonObject
from ullage.errors import Refused
from ullage.formats.agents.claude_code.copying import (
    Copier,
    derived_id,
    live_conversation,
    new_session,
    new_session_id,
)
from ullage.formats.agents.claude_code.items import cleared_calls, items_of, sent_entries
from ullage.formats.agents.claude_code.notes import OWN_KEY, new_prune_note, own_details
from ullage.formats.agents.claude_code.records import is_boundary_entry, metadata_of, read_entry
from ullage.formats.agents.claude_code.restore import begin, restore, undo_restore
from ullage.formats.json_line import text_of

__all__ = [
    "begin",
    "compact",
    "prune",
    "refuse_edit",
    "restore",
    "resume_command",
    "undo_compaction",
    "undo_prune",
    "undo_restore",
]

_FROM_SESSION = "fromSession"
"""Names the session that a compacted one goes on from."""


def refuse_edit(header: Header) -> str | None:
    """Say why a session's files cannot be changed; None where they can."""
    if header.parent_session_id is None:
        return None
    return (
        "a subagent's transcript cannot be resumed by itself:"
        f" change the session that it belongs to, {header.parent_session_id}"
    )


def compact(lines: Lines, context: Context, edit: CompactionEdit) -> NewSession:
    """Begin a session with the kept records, a boundary that preserves them, and the summary.

    That is how Claude Code itself keeps records beyond a compaction: it sends them after the
    summary and takes the usage in them for nothing, as we do (2.1.197, read and run).
    """
    entries = sent_entries(live_conversation(lines, context))
    at = next(n for n, entry in enumerate(entries) if entry.entry_id == edit.first_kept_id)
    kept = [e for e in entries[at:] if not is_boundary_entry(e) and not cleared_calls(e)]
    session_id = new_session_id(context, edit.entry_id, edit.timestamp)
    copier = Copier(lines, context, session_id)
    for entry in kept:
        copier.add(entry)
    copier.start_chain()
    last = entries[-1]
    boundary_id = derived_id(context.header, session_id, "boundary")
    summary_id = derived_id(context.header, session_id, "summary")
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
    return new_session(session_id, copier)


def prune(lines: Lines, context: Context, edit: PruneEdit) -> NewSession:
    """Copy the conversation with placeholders in it, and note the prune behind it.

    Claude Code takes the last answer's usage for the size of its context, and would compact the
    copy at once: that answer reports what is left.
    """
    conversation = msgspec.structs.replace(live_conversation(lines, context), pruned=None)
    session_id = new_session_id(context, edit.entry_id, edit.timestamp)
    copier = Copier(lines, context, session_id)
    replacements: dict[str, list[Replacement]] = {}
    for one in edit.replacements:
        replacements.setdefault(one.entry_id, []).append(one)
    copier.report_usage(conversation, edit.n_tokens_after)
    copier.add_thread(conversation, replacements)
    copier.add_settings({one.call_id for one in edit.replacements if one.call_id is not None})
    copier.add_note(new_prune_note(context, edit))
    return new_session(session_id, copier)


def undo_compaction(
    lines: Lines, context: Context, compaction: Compaction, *, entry_id: str, timestamp: str
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
    session_id = new_session_id(context, entry_id, timestamp)
    copier = Copier(before, earlier, session_id)
    copier.add_thread(conversation, {})
    copier.add_settings()
    return new_session(session_id, copier)


def undo_prune(lines: Lines, originals: Sequence[LineChange]) -> None:
    """Give up: a pruned session is a file of its own, and the old one is as it was."""
    del lines, originals


def resume_command(header: Header, path: Path) -> str:
    """Give the command by which a user goes on with a session."""
    del path
    return f"claude --resume {header.session_id}"


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
        OWN_KEY: edit.details | {_FROM_SESSION: context.header.session_id},
    }


def _lines_before(lines: Lines, context: Context, compaction: Compaction) -> LinesBefore:
    """Give the file as it was before a compaction.

    The boundary names the record that it was written after: a user may have gone back to it, so
    that what lies between was not in the context.
    """
    ref = next(ref for ref in context.compactions if ref.entry_id == compaction.entry_id)
    boundary = read_entry(next(lines.forward(ref.offset)))
    metadata = metadata_of(boundary) if isinstance(boundary, Entry) else {}
    own = own_details(metadata)
    if own is not None:
        raise Refused(
            "this session begins with its compaction; the one from before it is whole:"
            f" go on there with `claude --resume {text_of(own, _FROM_SESSION)}`"
        )
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
