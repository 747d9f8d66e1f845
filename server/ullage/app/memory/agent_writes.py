"""Lines that an agent wrote into memory itself, known as its own."""

from collections.abc import Sequence
from pathlib import Path

from ullage.app.memory.origins import begin_memory, record_lines
from ullage.core.memory.agent_writes import list_agent_lines
from ullage.core.transcript.context import ContextItem
from ullage.store.files.places import Places


def note_agent_writes(
    items: Sequence[ContextItem], session_key: str, workspace: Path, places: Places
) -> None:
    """Note what an agent wrote into memory itself, by the messages of its session.

    Raises:
        StorageError: the journal cannot be read, or the state folder does not take it.
    """
    if lines := list_agent_lines(items, str(workspace)):
        begin_memory(workspace, places)
        record_lines(lines, session_key, workspace, places)
