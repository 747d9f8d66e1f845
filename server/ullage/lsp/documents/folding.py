"""Folding: the turns of a transcript, and as regions what its compactions replaced."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from lsprotocol import types

from ullage.app.documents.kind import DocumentKind
from ullage.app.documents.outline import Outlined
from ullage.core.documents.outline import Row, cut_sections, find_row_at_offset
from ullage.lsp.documents.by_kind import reader_at
from ullage.lsp.documents.outline import outlined
from ullage.lsp.error_edge import guarded
from ullage.lsp.state import UllageServer

MAX_FOLDS = 5_000
"""VS Code shows no more (`editor.foldingMaximumRegions`); the newest turns count."""
ReadFolds: TypeAlias = Callable[[UllageServer, Path], Awaitable[list[types.FoldingRange]]]


@guarded
async def folding(ls: UllageServer, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
    found = reader_at(ls, params.text_document.uri, FOLDS)
    if found is None:
        return []
    read, path = found
    return await read(ls, path)


async def transcript_folds(ls: UllageServer, path: Path) -> list[types.FoldingRange]:
    found = await outlined(ls, path)
    return [] if found is None else await asyncio.to_thread(_folds, found)


FOLDS: Mapping[DocumentKind, ReadFolds] = {"transcript": transcript_folds}


def _folds(found: Outlined) -> list[types.FoldingRange]:
    refs = found.loaded.context.compactions
    rows = (find_row_at_offset(found.outline, ref.offset) for ref in refs)
    regions = _regions(sorted((row for row in rows if row is not None), key=lambda row: row.line))
    taken = {region.start_line for region in regions}
    turns = [
        types.FoldingRange(start_line=section.head.line, end_line=section.last_line)
        for section in cut_sections(found.outline)
        if section.last_line > section.head.line and section.head.line not in taken
    ]
    return [*turns, *regions][-MAX_FOLDS:]


def _regions(compactions: list[Row]) -> list[types.FoldingRange]:
    """Fold what stands before each compaction, from the one before it on."""
    starts = (0, *(row.line for row in compactions))
    return [
        types.FoldingRange(
            start_line=start, end_line=row.line - 1, kind=types.FoldingRangeKind.Region
        )
        for start, row in zip(starts, compactions, strict=False)
        if row.line - 1 > start
    ]
