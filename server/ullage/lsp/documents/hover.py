"""Hovers: what a line costs and whether it is still in the context; what a key means."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from lsprotocol import types

from ullage.app.documents.kind import DocumentKind
from ullage.app.documents.outline import Outlined, answered_calls, placed_compactions
from ullage.app.documents.outline_text import (
    KIND_NAMES,
    change_text,
    presence_text,
    summary_lines,
    tokens_text,
    total_text,
)
from ullage.app.gauge.status_text import ago
from ullage.core.documents.outline import Row, find_row_at_line
from ullage.core.gauge.loss import measured_text, noted_loss
from ullage.core.transcript.context import Compaction
from ullage.lsp.documents.by_kind import reader_at
from ullage.lsp.documents.diagnostics import surroundings
from ullage.lsp.documents.file_hovers import (
    FileHover,
    checkpoint_hover,
    config_hover,
    section_hover,
)
from ullage.lsp.documents.outline import outlined
from ullage.lsp.error_edge import guarded
from ullage.lsp.markdown import escaped
from ullage.lsp.state import UllageServer

ReadHover: TypeAlias = Callable[
    [UllageServer, Path, types.HoverParams], Awaitable[types.Hover | None]
]


@guarded
async def hover(ls: UllageServer, params: types.HoverParams) -> types.Hover | None:
    found = reader_at(ls, params.text_document.uri, HOVERS)
    if found is None:
        return None
    read, path = found
    return await read(ls, path, params)


async def transcript_hover(
    ls: UllageServer, path: Path, params: types.HoverParams
) -> types.Hover | None:
    found = await outlined(ls, path)
    row = None if found is None else find_row_at_line(found.outline, params.position.line)
    if found is None or row is None:
        return None
    text = await asyncio.to_thread(_text, found, row)
    return types.Hover(contents=types.MarkupContent(kind=types.MarkupKind.Markdown, value=text))


def _of_file(read: FileHover) -> ReadHover:
    async def hover_of_file(
        ls: UllageServer, path: Path, params: types.HoverParams
    ) -> types.Hover | None:
        return await asyncio.to_thread(read, path, params.position, surroundings(ls))

    return hover_of_file


HOVERS: Mapping[DocumentKind, ReadHover] = {
    "transcript": transcript_hover,
    "config": _of_file(config_hover),
    "checkpoint": _of_file(checkpoint_hover),
    "instructions": _of_file(section_hover),
    "memory": _of_file(section_hover),
}


def _text(found: Outlined, row: Row) -> str:
    when = "" if row.at_ms is None else f" · {ago(row.at_ms)}"
    parts = [f"**{KIND_NAMES[row.kind]}**{when}"]
    if row.title:
        parts.append(escaped(row.title))
    parts += [escaped(call) for call in row.calls or answered_calls(found, row)]
    if row.kind == "compaction":
        placed = (one for one in placed_compactions(found) if one.row is row)
        parts += [part for one in placed for part in _compaction(found, one.compaction)]
    tokens, total = tokens_text(found, row), total_text(found, row)
    parts.append("  \n".join(line for line in (tokens, total, presence_text(found, row)) if line))
    return "\n\n".join(parts)


def _compaction(found: Outlined, compaction: Compaction) -> list[str]:
    loss = noted_loss(compaction.details)
    lines = summary_lines(found, compaction)
    return [
        change_text(compaction),
        *([] if loss is None else [f"Audit: {escaped(measured_text(loss))}"]),
        *(["\n".join(f"> {escaped(line)}  " for line in lines)] if lines else []),
    ]
