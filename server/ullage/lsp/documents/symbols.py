"""Document symbols and folds of a transcript: its turns, their calls, its compactions."""

from collections.abc import Mapping

from lsprotocol import types

from ullage.app.documents.outline import OutlinedSession, place_compactions
from ullage.app.documents.outline_text import change_text
from ullage.core.documents.in_context import Presence, find_presence
from ullage.core.documents.outline import OutlineRow, Section, cut_sections, find_row_at_offset
from ullage.lsp.convert import line_range
from ullage.lsp.documents.by_kind import answer_by_kind, of_outline

MAX_SYMBOLS = 1_000
"""Writing so many takes the loop 15 ms (measured); the newest count, and every compaction."""
_DETAILS: Mapping[Presence, str] = {"replaced": "compacted away", "left": "left"}
MAX_FOLDS = 5_000
"""VS Code shows no more (`editor.foldingMaximumRegions`); the newest turns count."""


def transcript_symbols(
    outlined: OutlinedSession, _: types.DocumentSymbolParams
) -> list[types.DocumentSymbol]:
    changes = {
        placed.row.offset: change_text(placed.compaction) for placed in place_compactions(outlined)
    }
    symbols: list[types.DocumentSymbol] = []
    n_left = MAX_SYMBOLS
    for section in reversed(tuple(cut_sections(outlined.outline))):
        if section.head.kind == "compaction":
            symbols.append(_compaction(section.head, changes.get(section.head.offset)))
        elif n_left > 0:
            turn = _turn(outlined, section, n_left - 1)
            n_left -= 1 + len(turn.children or ())
            symbols.append(turn)
    symbols.reverse()
    return symbols


def _compaction(row: OutlineRow, change: str | None) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name="Compaction",
        detail="left" if change is None else change.removeprefix("Compaction"),
        kind=types.SymbolKind.Event,
        range=_range(row, row),
        selection_range=line_range(row.line),
    )


def _turn(outlined: OutlinedSession, section: Section, max_calls: int) -> types.DocumentSymbol:
    """Make the symbol of a turn; what is not in the context any more shows no calls."""
    where = find_presence(section.head, outlined.standing)
    is_shown = where not in _DETAILS
    calls = [_call(row, call) for row in section.rows if is_shown for call in row.calls]
    return types.DocumentSymbol(
        name=section.head.title or "(no text)",
        detail=_DETAILS.get(where, ""),
        kind=types.SymbolKind.Namespace,
        range=_range(section.head, section.rows[-1]),
        selection_range=line_range(section.head.line),
        children=calls[-max_calls:] if max_calls else [],
    )


def _call(row: OutlineRow, title: str) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=title or "(no name)",
        kind=types.SymbolKind.Function,
        range=_range(row, row),
        selection_range=line_range(row.line),
    )


def _range(first: OutlineRow, last: OutlineRow) -> types.Range:
    # A line has at most as many columns as bytes; an editor takes what is beyond for its end.
    return types.Range(
        types.Position(first.line, 0), types.Position(last.last_line, last.size_bytes)
    )


def transcript_folds(
    outlined: OutlinedSession, _: types.FoldingRangeParams
) -> list[types.FoldingRange]:
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


def _regions(compactions: list[OutlineRow]) -> list[types.FoldingRange]:
    """Fold what stands before each compaction, from the one before it on."""
    starts = (0, *(row.line for row in compactions))
    return [
        types.FoldingRange(
            start_line=start, end_line=row.line - 1, kind=types.FoldingRangeKind.Region
        )
        for start, row in zip(starts, compactions, strict=False)
        if row.line - 1 > start
    ]


answer_symbols = answer_by_kind({"transcript": of_outline(transcript_symbols, [])}, [])
answer_folding = answer_by_kind({"transcript": of_outline(transcript_folds, [])}, [])
