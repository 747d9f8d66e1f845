"""Document links: files that calls touched, and the checkpoint before each compaction."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from lsprotocol import types

from ullage.app.document_kind import DocumentKind
from ullage.app.outline import Outlined
from ullage.app.outline_links import transcript_targets
from ullage.lsp.boundary import guarded
from ullage.lsp.convert import uri_of
from ullage.lsp.kinds import document_at
from ullage.lsp.outline import outlined
from ullage.lsp.state import UllageServer
from ullage.store.places import Places

ReadLinks: TypeAlias = Callable[[UllageServer, Path], Awaitable[list[types.DocumentLink]]]


@guarded
async def links(ls: UllageServer, params: types.DocumentLinkParams) -> list[types.DocumentLink]:
    found = document_at(ls, params.text_document.uri)
    read = None if found is None else LINKS.get(found[1])
    return [] if found is None or read is None else await read(ls, found[0])


async def transcript_links(ls: UllageServer, path: Path) -> list[types.DocumentLink]:
    found = await outlined(ls, path)
    return [] if found is None else await asyncio.to_thread(_links, found, ls.places)


LINKS: Mapping[DocumentKind, ReadLinks] = {"transcript": transcript_links}


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
