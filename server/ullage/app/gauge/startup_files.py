"""Whether an agent read, after a compaction, the files that its workspace's AGENTS.md asks for."""

from collections.abc import Sequence
from pathlib import Path

from ullage.core.checkpoint.startup_rules import AGENTS_NAME, find_startup_rules
from ullage.core.gauge.status import last_compaction_ms
from ullage.core.transcript.context import Context
from ullage.store.files.local_time import day_of, local_now
from ullage.store.files.text_files import exists, read_text_inside
from ullage.store.files.work_tree import list_folders_up

MAX_NAMED = 5
"""Files that a line names (chosen)."""


def find_unread_startup_files(context: Context) -> tuple[str, ...] | None:
    """List those that are there and were not read since the last compaction.

    None where nothing was compacted, none is asked for, or the agent has not answered since.
    """
    folder = context.header.cwd
    if folder is None or not context.compactions:
        return None
    top, agents_md = read_agents_file(Path(folder))
    if not agents_md:
        return None
    from ullage.core.checkpoint.startup_files import find_unread_files, list_startup_files

    day = day_of(last_compaction_ms(context)) or local_now().date()
    named = list_startup_files(find_startup_rules(agents_md), day)
    files = [name for name in named if exists(top / name)]
    return find_unread_files(context, files, str(top)) if files else None


def read_agents_file(folder: Path) -> tuple[Path, str]:
    """Read the AGENTS.md that is next from a folder up to its repository's, with its own folder.

    Where there is none, the folder and no text.
    """
    try:
        folders = list_folders_up(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # links in a circle, a path that is none
        return folder, ""
    texts = ((each, read_text_inside(each, AGENTS_NAME)) for each in folders)
    return next(((each, text) for each, text in texts if text), (folder, ""))


def unread_text(unread: Sequence[str], time: str) -> str:
    """Say what was not read after the compaction at a time."""
    named = ", ".join(unread[:MAX_NAMED])
    if len(unread) > MAX_NAMED:
        named += f" and {len(unread) - MAX_NAMED} more"
    return (
        f"after the compaction at {time} the agent did not read {named} that {AGENTS_NAME} asks for"
    )
