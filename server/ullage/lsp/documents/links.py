"""Document links: files that calls touched or instructions name, and checkpoints."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from lsprotocol import types

from ullage.app.documents.kind import DocumentKind
from ullage.app.documents.outline import Outlined, transcript_targets
from ullage.lsp.convert import uri_of
from ullage.lsp.documents.by_kind import reader_at
from ullage.lsp.documents.diagnostics import surroundings
from ullage.lsp.documents.file_links import FileLinks, checkpoint_links, mention_links
from ullage.lsp.documents.outline import outlined
from ullage.lsp.error_edge import guarded
from ullage.lsp.state import UllageServer
from ullage.store.files.places import Places

ReadLinks: TypeAlias = Callable[[UllageServer, Path], Awaitable[list[types.DocumentLink]]]


@guarded
async def links(ls: UllageServer, params: types.DocumentLinkParams) -> list[types.DocumentLink]:
    found = reader_at(ls, params.text_document.uri, LINKS)
    if found is None:
        return []
    read, path = found
    return await read(ls, path)


async def transcript_links(ls: UllageServer, path: Path) -> list[types.DocumentLink]:
    found = await outlined(ls, path)
    return [] if found is None else await asyncio.to_thread(_links, found, ls.places)


def _of_file(read: FileLinks) -> ReadLinks:
    async def links_of_file(ls: UllageServer, path: Path) -> list[types.DocumentLink]:
        return await asyncio.to_thread(read, path, surroundings(ls))

    return links_of_file


LINKS: Mapping[DocumentKind, ReadLinks] = {
    "transcript": transcript_links,
    "checkpoint": _of_file(checkpoint_links),
    "instructions": _of_file(mention_links),
    "memory": _of_file(mention_links),
}


def _links(found: Outlined, places: Places) -> list[types.DocumentLink]:
    return [
        types.DocumentLink(
            range=types.Range(
                start=types.Position(line=one.line, character=one.column),
                end=types.Position(line=one.line, character=one.end_column),
            ),
            target=uri_of(one.path),
            tooltip=one.tooltip,
        )
        for one in transcript_targets(found, places)
    ]
