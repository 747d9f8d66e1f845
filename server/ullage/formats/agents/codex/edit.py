"""Edits of Codex's sessions: the session goes on as a new thread, the old one stays.

Codex notes the places of lines in a database beside its rollouts, so that nothing is ever put
into one (research/agents.md §0.5).
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
from ullage.core.transcript.message import plain_text
from ullage.errors import Refused
from ullage.formats.agents.codex.compaction import summary_message
from ullage.formats.agents.codex.copying import (
    Copier,
    last_info,
    last_settings,
    live_history,
    live_offsets,
    token_count,
)
from ullage.formats.agents.codex.messages import to_message
from ullage.formats.agents.codex.notes import OWN_KEY, new_prune_note, own_note
from ullage.formats.agents.codex.records import payload_of, read_entry
from ullage.formats.agents.codex.restore import begin, restore, undo_restore
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
    return "a subagent's thread belongs to the session that started it: change that one instead" + (
        f", {header.parent_session_id}" if header.parent_session_id else ""
    )


def compact(lines: Lines, context: Context, edit: CompactionEdit) -> NewSession:
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
        _FROM_SESSION: context.header.session_id,
    }
    history = [summary_message(message), *(item.native for item in items[at:])]
    copier.add_new("compacted", {"message": message, "replacement_history": history, OWN_KEY: own})
    told = token_count(last_info(lines), edit.n_tokens_after, context.window_tokens)
    copier.add_new("event_msg", told)
    return copier.new_session()


def prune(lines: Lines, context: Context, edit: PruneEdit) -> NewSession:
    """Copy the live lines with placeholders in them, and tell the new size behind them.

    Codex takes the last size that was told for that of its context, and would compact the copy
    at once.
    """
    replacements: dict[str, list[Replacement]] = {}
    for one in edit.replacements:
        replacements.setdefault(one.entry_id, []).append(one)
    copier = Copier(lines, context, entry_id=edit.entry_id, timestamp=edit.timestamp)
    copier.add_header()
    for offset in live_offsets(lines, live_history(lines, context)):
        copier.add_line(offset, replacements)
    told = token_count(last_info(lines), edit.n_tokens_after, context.window_tokens)
    copier.add_new("event_msg", told | {OWN_KEY: new_prune_note(context, edit)})
    return copier.new_session()


def undo_compaction(
    lines: Lines, context: Context, compaction: Compaction, *, entry_id: str, timestamp: str
) -> NewSession:
    """Copy the thread as it was when the compaction was written; what followed stays behind.

    Raises:
        Refused: the lines from before the compaction are not in the file.
    """
    ref = next(ref for ref in context.compactions if ref.entry_id == compaction.entry_id)
    boundary = read_entry(next(lines.forward(ref.offset)))
    own = own_note(payload_of(boundary)) if isinstance(boundary, Entry) else None
    if own is not None:
        raise Refused(
            "this session begins with its compaction; the one from before it is whole:"
            f" go on there with `codex resume {text_of(own, _FROM_SESSION)}`"
        )
    before = LinesBefore(lines, _end_before(LinesBefore(lines, ref.offset), compaction))
    refs = tuple(one for one in context.compactions if one.offset < ref.offset)
    earlier = msgspec.structs.replace(context, compactions=refs)
    copier = Copier(before, context, entry_id=entry_id, timestamp=timestamp)
    copier.add_header()
    for offset in live_offsets(before, live_history(before, earlier)):
        copier.add_line(offset, {})
    return copier.new_session()


def undo_prune(lines: Lines, originals: Sequence[LineChange]) -> None:
    """Give up: a pruned session is a file of its own, and the old one is as it was."""
    del lines, originals


def resume_command(header: Header, path: Path) -> str:
    """Give the command by which a user goes on with a session."""
    del path
    return f"codex resume {header.session_id}"


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
