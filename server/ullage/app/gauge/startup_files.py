"""Whether an agent read, after a compaction, the files that its workspace's AGENTS.md asks for."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path

from ullage.core.checkpoint.startup_files import find_unread_files, list_startup_files
from ullage.core.checkpoint.startup_rules import AGENTS_NAME, find_startup_rules
from ullage.core.gauge.status import last_compaction_ms
from ullage.core.transcript.context import Context
from ullage.store.files.local_time import LOCAL, local_now
from ullage.store.files.text_files import exists, read_text_inside

MAX_NAMED = 5
"""Files that a line names (chosen)."""


def find_unread_startup_files(context: Context) -> tuple[str, ...] | None:
    """List those that are there and were not read since the last compaction.

    None where nothing was compacted, none is asked for, or the agent has not answered since.
    """
    folder = context.header.cwd
    if folder is None or not context.compactions:
        return None
    rules = find_startup_rules(read_text_inside(Path(folder), AGENTS_NAME) or "")
    named = list_startup_files(rules, _day_of(last_compaction_ms(context)))
    files = [name for name in named if exists(Path(folder) / name)]
    return find_unread_files(context, files) if files else None


def unread_text(unread: Sequence[str], time: str) -> str:
    """Say what was not read after the compaction at a time."""
    named = ", ".join(unread[:MAX_NAMED])
    if len(unread) > MAX_NAMED:
        named += f" and {len(unread) - MAX_NAMED} more"
    return (
        f"after the compaction at {time} the agent did not read {named} that {AGENTS_NAME} asks for"
    )


def _day_of(at_ms: int | None) -> date:
    with suppress(ValueError, OverflowError, OSError):
        if at_ms is not None:
            return datetime.fromtimestamp(at_ms / 1000, LOCAL).date()
    return local_now().date()
