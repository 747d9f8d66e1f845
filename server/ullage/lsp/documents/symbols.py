"""Document symbols: the turns of a transcript with the calls below, and its compactions."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from lsprotocol import types

from ullage.app.documents.kind import DocumentKind
from ullage.app.documents.outline import Outlined, placed_compactions
from ullage.app.documents.outline_text import change_text
from ullage.core.documents.in_context import Presence, find_presence
from ullage.core.documents.outline import Row, Section, cut_sections
from ullage.lsp.documents.by_kind import reader_at
from ullage.lsp.documents.outline import outlined
from ullage.lsp.error_edge import guarded
from ullage.lsp.state import UllageServer

MAX_SYMBOLS = 1_000
"""Writing so many takes the loop 15 ms (measured); the newest count, and every compaction."""
_DETAILS: Mapping[Presence, str] = {"replaced": "compacted away", "left": "left"}
ReadSymbols: TypeAlias = Callable[[UllageServer, Path], Awaitable[list[types.DocumentSymbol]]]


@guarded
async def symbols(
    ls: UllageServer, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol]:
    found = reader_at(ls, params.text_document.uri, SYMBOLS)
    if found is None:
        return []
    read, path = found
    return await read(ls, path)


async def transcript_symbols(ls: UllageServer, path: Path) -> list[types.DocumentSymbol]:
    found = await outlined(ls, path)
    return [] if found is None else await asyncio.to_thread(_symbols, found)


SYMBOLS: Mapping[DocumentKind, ReadSymbols] = {"transcript": transcript_symbols}


def _symbols(found: Outlined) -> list[types.DocumentSymbol]:
    changes = {one.row.offset: change_text(one.compaction) for one in placed_compactions(found)}
    made: list[types.DocumentSymbol] = []
    n_left = MAX_SYMBOLS
    for section in reversed(tuple(cut_sections(found.outline))):
        if section.head.kind == "compaction":
            made.append(_compaction(section.head, changes.get(section.head.offset)))
        elif n_left > 0:
            turn = _turn(found, section, n_left - 1)
            n_left -= 1 + len(turn.children or ())
            made.append(turn)
    made.reverse()
    return made


def _compaction(row: Row, change: str | None) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name="Compaction",
        detail="left" if change is None else change.removeprefix("Compaction"),
        kind=types.SymbolKind.Event,
        range=_range(row, row),
        selection_range=_start(row),
    )


def _turn(found: Outlined, section: Section, max_calls: int) -> types.DocumentSymbol:
    """Make the symbol of a turn; what is not in the context any more shows no calls."""
    where = find_presence(section.head, found.standing)
    is_shown = where not in _DETAILS
    calls = [_call(row, call) for row in section.rows if is_shown for call in row.calls]
    return types.DocumentSymbol(
        name=section.head.title or "(no text)",
        detail=_DETAILS.get(where, ""),
        kind=types.SymbolKind.Namespace,
        range=_range(section.head, section.rows[-1]),
        selection_range=_start(section.head),
        children=calls[-max_calls:] if max_calls else [],
    )


def _call(row: Row, title: str) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=title or "(no name)",
        kind=types.SymbolKind.Function,
        range=_range(row, row),
        selection_range=_start(row),
    )


def _range(first: Row, last: Row) -> types.Range:
    # A line has at most as many columns as bytes; an editor takes what is beyond for its end.
    return types.Range(
        start=types.Position(line=first.line, character=0),
        end=types.Position(line=last.last_line, character=last.size_bytes),
    )


def _start(row: Row) -> types.Range:
    start = types.Position(line=row.line, character=0)
    return types.Range(start=start, end=start)
