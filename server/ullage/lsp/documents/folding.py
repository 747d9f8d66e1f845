"""Folding: the turns of a transcript, and as regions what its compactions replaced."""

from lsprotocol import types

from ullage.app.documents.outline import Outlined
from ullage.core.documents.outline import Row, cut_sections, find_row_at_offset
from ullage.lsp.documents.by_kind import answer_by_kind, of_outline

MAX_FOLDS = 5_000
"""VS Code shows no more (`editor.foldingMaximumRegions`); the newest turns count."""


def transcript_folds(outlined: Outlined, _: types.FoldingRangeParams) -> list[types.FoldingRange]:
    refs = outlined.loaded.context.compactions
    rows = (find_row_at_offset(outlined.outline, ref.offset) for ref in refs)
    regions = _regions(sorted((row for row in rows if row is not None), key=lambda row: row.line))
    taken = {region.start_line for region in regions}
    turns = [
        types.FoldingRange(start_line=section.head.line, end_line=section.last_line)
        for section in cut_sections(outlined.outline)
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


answer_folding = answer_by_kind({"transcript": of_outline(transcript_folds, [])}, [])
