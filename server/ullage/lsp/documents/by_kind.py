"""A request about a document, answered by what is read of such a kind of document."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

from lsprotocol.types import TextDocumentIdentifier

from ullage.app.documents.check import SmallFile, Surroundings
from ullage.app.documents.kind import DocumentKind
from ullage.app.documents.outline import OutlinedSession
from ullage.lsp.convert import path_of
from ullage.lsp.documents.outline import read_outline
from ullage.lsp.state import UllageServer


class DocumentParams(Protocol):
    """What all requests about a document say."""

    @property
    def text_document(self) -> TextDocumentIdentifier: ...


P = TypeVar("P", bound=DocumentParams)
P_contra = TypeVar("P_contra", bound=DocumentParams, contravariant=True)
R = TypeVar("R")
Read: TypeAlias = Callable[[UllageServer, Path, P_contra], Awaitable[R]]


def answer_by_kind(
    readers: Mapping[DocumentKind, Read[P, R]], empty: R
) -> Callable[[UllageServer, P], Awaitable[R]]:
    """Make the handler of a request; `empty` answers for all other documents."""

    async def answer(ls: UllageServer, params: P) -> R:
        path = path_of(params.text_document.uri)
        kind = None if path is None else ls.kind_of(path)
        read = None if kind is None else readers.get(kind)
        return empty if path is None or read is None else await read(ls, path, params)

    return answer


def of_outline(read: Callable[[OutlinedSession, P], R], empty: R) -> Read[P, R]:
    """Read the lines of a transcript, in a thread."""

    async def read_lines(ls: UllageServer, path: Path, params: P) -> R:
        outlined = await read_outline(ls, path)
        return empty if outlined is None else await asyncio.to_thread(read, outlined, params)

    return read_lines


def of_text(read: Callable[[SmallFile, P], R], empty: R) -> Read[P, R]:
    """Read the text of a small document, in a thread."""

    def read_file(path: Path, around: Surroundings, params: P) -> R:
        text = around.text_of(path)
        return (
            empty if text is None else read(SmallFile(path=path, text=text, around=around), params)
        )

    async def read_text(ls: UllageServer, path: Path, params: P) -> R:
        return await asyncio.to_thread(read_file, path, ls.surroundings(), params)

    return read_text
