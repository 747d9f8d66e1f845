"""Inlay hints: what each visible entry of a transcript costs, or section of instructions."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from lsprotocol import types

from ullage.app.documents.kind import DocumentKind
from ullage.app.documents.outline import Outlined
from ullage.app.documents.outline_text import hint_text, hint_tooltip
from ullage.core.documents.outline import list_rows_between
from ullage.lsp.documents.by_kind import reader_at
from ullage.lsp.documents.diagnostics import surroundings
from ullage.lsp.documents.file_hints import FileHints, section_hints
from ullage.lsp.documents.outline import outlined
from ullage.lsp.error_edge import guarded
from ullage.lsp.state import UllageServer

MAX_HINTS = 500
"""Editors ask for what is visible; of one that asks for more, the last lines count (chosen)."""
ReadHints: TypeAlias = Callable[
    [UllageServer, Path, types.InlayHintParams], Awaitable[list[types.InlayHint]]
]


@guarded
async def inlay_hints(ls: UllageServer, params: types.InlayHintParams) -> list[types.InlayHint]:
    found = reader_at(ls, params.text_document.uri, HINTS)
    if found is None:
        return []
    read, path = found
    return await read(ls, path, params)


async def transcript_hints(
    ls: UllageServer, path: Path, params: types.InlayHintParams
) -> list[types.InlayHint]:
    found = await outlined(ls, path)
    return [] if found is None else await asyncio.to_thread(_hints, found, params.range)


def _of_file(read: FileHints) -> ReadHints:
    async def hints_of_file(
        ls: UllageServer, path: Path, params: types.InlayHintParams
    ) -> list[types.InlayHint]:
        return await asyncio.to_thread(read, path, params.range, surroundings(ls))

    return hints_of_file


HINTS: Mapping[DocumentKind, ReadHints] = {
    "transcript": transcript_hints,
    "instructions": _of_file(section_hints),
    "memory": _of_file(section_hints),
}


def _hints(found: Outlined, wanted: types.Range) -> list[types.InlayHint]:
    rows = list_rows_between(found.outline, wanted.start.line, wanted.end.line)[-MAX_HINTS:]
    # They stand before the line: an entry is longer than any screen is wide.
    return [
        types.InlayHint(
            position=types.Position(line=row.line, character=0),
            label=text,
            tooltip=hint_tooltip(found, row),
            padding_right=True,
        )
        for row in rows
        if (text := hint_text(found, row))
    ]
