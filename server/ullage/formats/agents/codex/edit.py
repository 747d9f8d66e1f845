"""Edits of Codex's sessions: the session goes on as a new thread, the old one stays.

Codex notes the places of lines in a database beside its rollouts, so that nothing is ever put
into one (docs/design/agents.md, "Writing to a session").
"""

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
from ullage.core.transcript.message import JsonObject, plain_text
from ullage.errors import Refused
from ullage.formats.agent_info import Editor
from ullage.formats.agents.codex.copying import (
    Copier,
    last_info,
    last_settings,
    live_history,
    live_offsets,
    token_count,
)
from ullage.formats.agents.codex.messages import make_user_message, to_message
from ullage.formats.agents.codex.records import payload_of, read_entry
from ullage.formats.notes import (
    FROM_SESSION,
    OWN_KEY,
    own_note,
    prune_figures,
    refuse_undo_of_first,
)


def _refuse(header: Header) -> str | None:
    if header.parent_session_id is None:
        return None
    return "a subagent's thread belongs to the session that started it: change that one instead" + (
        f", {header.parent_session_id}" if header.parent_session_id else ""
    )


def _compact(lines: Lines, context: Context, edit: CompactionEdit) -> NewSession:
    """Begin a thread with a `compacted` line that holds the summary and the kept items.

    Raises:
        Refused: what the summary replaces cannot be read.
    """
    items = context.items
    at = next(n for n, item in enumerate(items) if item.entry_id == edit.first_kept_id)
    if any(item.category == "summary" and not item.message.blocks for item in items[:at]):
        raise Refused(
            "the last compaction of this session is encrypted, and no summary of ours could hold"
            " what it says: compact in Codex with /compact"
        )
    copier = Copier(lines, context, entry_id=edit.entry_id, timestamp=edit.timestamp)
    copier.add_header()
    settings = last_settings(lines)
    if settings is not None:
        copier.add_line(settings, {})
    message = PREFACE + edit.summary
    own = edit.details | {
        "tokensBefore": edit.n_tokens_before,
        FROM_SESSION: context.header.session_id,
    }
    history = [make_user_message(message), *(item.native for item in items[at:])]
    copier.add_new("compacted", {"message": message, "replacement_history": history, OWN_KEY: own})
    told = token_count(last_info(lines), edit.n_tokens_after, context.window_tokens)
    copier.add_new("event_msg", told)
    return copier.new_session()


def _prune(lines: Lines, context: Context, edit: PruneEdit) -> NewSession:
    """Copy the live lines with placeholders in them, and tell the new size behind them.

    Codex takes the last size that was told for that of its context, and would compact the copy
    at once.
    """
    replacements = by_entry(edit.replacements)
    copier = Copier(lines, context, entry_id=edit.entry_id, timestamp=edit.timestamp)
    copier.add_header()
    for offset in live_offsets(lines, live_history(lines, context)):
        copier.add_line(offset, replacements)
    note: JsonObject = {"id": edit.entry_id, **prune_figures(context, edit)}
    note |= {FROM_SESSION: context.header.session_id}
    told = token_count(last_info(lines), edit.n_tokens_after, context.window_tokens)
    copier.add_new("event_msg", told | {OWN_KEY: note})
    return copier.new_session()


def _undo_compaction(
    lines: Lines, context: Context, compaction: Compaction, edit: UndoEdit
) -> NewSession:
    """Copy the thread as it was when the compaction was written; what followed stays behind.

    Raises:
        Refused: the lines from before the compaction are not in the file.
    """
    ref = next(ref for ref in context.compactions if ref.entry_id == compaction.entry_id)
    boundary = read_entry(next(lines.forward(ref.offset)))
    if isinstance(boundary, Entry):
        refuse_undo_of_first(own_note(payload_of(boundary)), "codex resume")
    before = LinesBefore(lines, _end_before(LinesBefore(lines, ref.offset), compaction))
    refs = tuple(one for one in context.compactions if one.offset < ref.offset)
    earlier = msgspec.structs.replace(context, compactions=refs)
    copier = Copier(before, context, entry_id=edit.entry_id, timestamp=edit.timestamp)
    copier.add_header()
    for offset in live_offsets(before, live_history(before, earlier)):
        copier.add_line(offset, {})
    return copier.new_session()


def _restore(lines: Lines, context: Context, edit: RestoreEdit) -> NewSession:
    """Copy the live lines with the text behind them."""
    copier = Copier(lines, context, entry_id=edit.entry_id, timestamp=edit.timestamp)
    copier.add_header()
    for offset in live_offsets(lines, live_history(lines, context)):
        copier.add_line(offset, {})
    _add_text(copier, edit)
    return copier.new_session()


def _begin(lines: Lines, context: Context, edit: RestoreEdit) -> NewSession:
    """Begin a thread of the same folder, with the model of this one, by the text alone."""
    copier = Copier(lines, context, entry_id=edit.entry_id, timestamp=edit.timestamp)
    copier.add_header()
    settings = last_settings(lines)
    if settings is not None:
        copier.add_line(settings, {})
    _add_text(copier, edit)
    return copier.new_session()


def _add_text(copier: Copier, edit: RestoreEdit) -> None:
    """Add what goes to the model, and the event by which Codex shows and lists it."""
    copier.add_new("response_item", make_user_message(edit.text))
    copier.add_new("event_msg", {"type": "user_message", "message": edit.text})


def _end_before(lines: Lines, compaction: Compaction) -> int:
    """Find where the context ends that was compacted.

    Codex 0.169 also writes down the answer that the summary was taken from, with its reasoning.
    """
    end = lines.size_bytes
    is_in_answer = False
    for line in lines.backward():
        entry = read_entry(line)
        if not isinstance(entry, Entry) or entry.kind != "response_item":
            continue
        message, _ = to_message(payload_of(entry), {})
        text = plain_text(message)
        is_summary = message.role == "assistant" and text and compaction.summary.endswith(text)
        is_thought = payload_of(entry).get("type") == "reasoning"
        if not (is_thought if is_in_answer else is_summary):
            break
        is_in_answer = True
        end = line.offset
    return end


EDITOR = Editor(
    refuse=_refuse,
    compact=_compact,
    prune=_prune,
    restore=_restore,
    begin=_begin,
    undo_compaction=_undo_compaction,
)
