"""Lenses on the first line of small documents: what a checkpoint can do, what a file costs."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from lsprotocol import types

from ullage.app.documents.check import Surroundings
from ullage.app.documents.instruction_size import sent_text, size_text
from ullage.app.documents.instructions import is_index
from ullage.core.documents.text_sections import estimate_text
from ullage.core.documents.virtual_uri import VirtualUri, write_virtual_uri
from ullage.errors import CorruptCheckpoint, NewerCheckpoint
from ullage.lsp.protocol import RESTORE_COMMAND, SHOW_COMMAND
from ullage.store.checkpoint.yaml_file import load

FileLenses: TypeAlias = Callable[[Path, Surroundings], list[types.CodeLens]]

TOP = types.Range(start=types.Position(0, 0), end=types.Position(0, 0))
AS_TEXT = (("as text", "text"),)
INTO_SESSIONS = (("into this session…", "session"), ("into a new one…", "new"))


def checkpoint_lenses(
    path: Path, around: Surroundings, *, may_write: bool, can_show: bool
) -> list[types.CodeLens]:
    """Offer what the command line does with a checkpoint; none on one that cannot be read."""
    text = around.text_of(path)
    if text is None:
        return []
    try:
        meta = load(text.encode("utf-8", "replace")).meta
    except (CorruptCheckpoint, NewerCheckpoint):
        return []
    session, checkpoint = meta.session_file, path.stem
    # A runtime that keeps no file restores by itself.
    if not session or not Path(session).exists():
        return []
    ways = (*(AS_TEXT if can_show else ()), *(INTO_SESSIONS if may_write else ()))
    lenses = [
        _lens(
            title if at else f"Restore {title}",
            RESTORE_COMMAND,
            {"session": session, "checkpoint": checkpoint, "into": into},
        )
        for at, (title, into) in enumerate(ways)
    ]
    previous = meta.previous_checkpoint
    if previous is not None and can_show:
        uri = write_virtual_uri(
            VirtualUri(name="Checkpoint Changes", session=session, old=previous, new=checkpoint)
        )
        lenses.append(_lens(f"Compare with {previous}", SHOW_COMMAND, {"uri": uri}))
    return lenses


def instruction_lenses(path: Path, around: Surroundings) -> list[types.CodeLens]:
    text = around.text_of(path)
    if not text:
        return []
    size, sent = size_text(path, text, around), sent_text(path, text, around)
    return [_lens(f"{size} · {sent} tokens in every request", "", {})]


def memory_lenses(path: Path, around: Surroundings) -> list[types.CodeLens]:
    """Say what memory costs: the index in every request, other notes when they are read."""
    if is_index(path):
        return instruction_lenses(path, around)
    text = around.text_of(path)
    if not text:
        return []
    return [_lens(f"~{estimate_text(text):,} tokens when it is read", "", {})]


def _lens(title: str, command: str, argument: dict[str, str]) -> types.CodeLens:
    """Make a lens; one without a command is text."""
    arguments = [argument] if argument else None
    return types.CodeLens(
        range=TOP, command=types.Command(title=title, command=command, arguments=arguments)
    )
