"""Code lenses: how full a transcript is, what a compaction did, what a file costs."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from lsprotocol import types

from ullage.app.documents.kind import DocumentKind
from ullage.app.documents.outline import Outlined, PlacedCompaction, placed_compactions
from ullage.app.documents.outline_text import change_text
from ullage.app.sessions.load import Loaded
from ullage.core.documents.virtual_uri import write_summary_uri
from ullage.core.gauge.gauge import gauge_text
from ullage.lsp.documents.by_kind import reader_at
from ullage.lsp.documents.diagnostics import surroundings
from ullage.lsp.documents.file_lenses import (
    FileLenses,
    checkpoint_lenses,
    instruction_lenses,
    memory_lenses,
)
from ullage.lsp.documents.outline import outlined
from ullage.lsp.documents.possible import possible_commands
from ullage.lsp.documents.proposal import preview_lenses
from ullage.lsp.error_edge import guarded
from ullage.lsp.permission import may_write
from ullage.lsp.protocol import (
    CHECKPOINT_COMMAND,
    COMPACT_COMMAND,
    PRUNE_COMMAND,
    SHOW_COMMAND,
    UNDO_COMMAND,
)
from ullage.lsp.state import UllageServer

HEAD = (
    ("Compact…", COMPACT_COMMAND),
    ("Prune…", PRUNE_COMMAND),
    ("Write Checkpoint", CHECKPOINT_COMMAND),
)
NO_COMMAND = ""
"""A lens that only tells something; editors show its title as plain text."""
ReadLenses: TypeAlias = Callable[[UllageServer, Path], Awaitable[list[types.CodeLens]]]


@guarded
async def lenses(ls: UllageServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    found = reader_at(ls, params.text_document.uri, LENSES)
    if found is None:
        return []
    read, path = found
    return await read(ls, path)


async def transcript_lenses(ls: UllageServer, path: Path) -> list[types.CodeLens]:
    found = await outlined(ls, path)
    followed = ls.sessions.followed.get(path)
    if followed is None:
        return []
    possible = await possible_commands(ls, followed.loaded)
    return await asyncio.to_thread(_lenses, followed.loaded, found, possible)


async def _lenses_of_checkpoint(ls: UllageServer, path: Path) -> list[types.CodeLens]:
    return await asyncio.to_thread(
        checkpoint_lenses,
        path,
        surroundings(ls),
        may_write=may_write(ls),
        can_show=ls.can_show_text,
    )


def _of_file(read: FileLenses) -> ReadLenses:
    async def lenses_of_file(ls: UllageServer, path: Path) -> list[types.CodeLens]:
        return await asyncio.to_thread(read, path, surroundings(ls))

    return lenses_of_file


LENSES: Mapping[DocumentKind, ReadLenses] = {
    "transcript": transcript_lenses,
    "checkpoint": _lenses_of_checkpoint,
    "instructions": _of_file(instruction_lenses),
    "memory": _of_file(memory_lenses),
    "preview": preview_lenses,
}


def _lenses(
    loaded: Loaded, found: Outlined | None, possible: frozenset[str]
) -> list[types.CodeLens]:
    """Make the lenses; without an outline, as of a database, those of the first line alone."""
    head = [_lens(0, *one) for one in _head(loaded, possible)]
    if found is None:
        return head
    return head + [
        _lens(placed.row.line, *one)
        for placed in placed_compactions(found)
        for one in _of_compaction(loaded, placed, possible)
    ]


Command: TypeAlias = tuple[str, str, object]
"""Title, command and its argument."""


def _head(loaded: Loaded, possible: frozenset[str]) -> Iterator[Command]:
    session = {"session": str(loaded.path)}
    yield gauge_text(loaded.status.gauge), NO_COMMAND, None
    for title, command in HEAD:
        if command in possible:
            yield title, command, session


def _of_compaction(
    loaded: Loaded, placed: PlacedCompaction, possible: frozenset[str]
) -> Iterator[Command]:
    compaction = placed.compaction
    yield change_text(compaction), NO_COMMAND, None
    if compaction.summary and SHOW_COMMAND in possible:
        uri = write_summary_uri(str(loaded.path), compaction.entry_id)
        yield "Show summary", SHOW_COMMAND, {"uri": uri}
    # A prune since then would be taken back first.
    if UNDO_COMMAND in possible and placed.is_last and loaded.context.pruned is None:
        yield "Undo", UNDO_COMMAND, {"session": str(loaded.path)}


def _lens(line: int, title: str, command: str, argument: object) -> types.CodeLens:
    start = types.Position(line=line, character=0)
    arguments = None if argument is None else [argument]
    return types.CodeLens(
        range=types.Range(start=start, end=start),
        command=types.Command(title=title, command=command, arguments=arguments),
    )
