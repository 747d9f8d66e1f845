"""Edits of pi's and OpenClaw's sessions: what they change in the file."""

import shlex
from pathlib import Path

from ullage.core.change.edit import Append, CompactionEdit
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Header, Lines
from ullage.formats.agents.openclaw.compaction import compaction_entry
from ullage.formats.agents.openclaw.prune import prune
from ullage.formats.agents.openclaw.restore import begin, restore, undo_restore
from ullage.formats.agents.openclaw.seed_compaction import events_compaction, flat_compaction
from ullage.formats.agents.openclaw.undo import append_entry, undo_compaction, undo_prune

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

WRITABLE_VERSION = 3


def refuse_edit(header: Header) -> str | None:
    """Say why a session's files cannot be changed; None where they can."""
    if header.dialect or header.version == WRITABLE_VERSION:
        return None
    if header.version > WRITABLE_VERSION:
        return "OpenClaw keeps such sessions itself: compact there with /compact"
    return "this pi session has an old format: open it once in pi, which brings it up to date"


def compact(lines: Lines, context: Context, edit: CompactionEdit) -> Append:
    """Append a compaction in the form that the session's own agent writes."""
    match context.header.dialect:
        case "events":
            entry = events_compaction(lines, context, edit)
        case "flat":
            entry = flat_compaction(context, edit)
        case _:
            entry = compaction_entry(context, edit)
    return append_entry(lines, entry)


def resume_command(header: Header, path: Path) -> str:
    """Give the command by which a user goes on with a session."""
    del header
    return f"pi --session {shlex.quote(str(path))}"
