"""Read-only documents of the scheme `ullage`, for clients that show such and for those that ask."""

import asyncio
from pathlib import Path

from lsprotocol import types

from ullage.app.assembly.parts import inspect_session
from ullage.app.documents.virtual_documents import document_text
from ullage.app.gauge.inspect import Inspection
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.core.documents.virtual_uri import parse_virtual_uri
from ullage.errors import SessionNotFound, UnknownItem
from ullage.lsp.documents.memory import list_cited
from ullage.lsp.follow import NO_SESSION
from ullage.lsp.messages import show_virtual_document
from ullage.lsp.protocol import Outcome, ShowArgument
from ullage.lsp.state import ShownDocument, UllageServer

MAX_SHOWN = 100
"""Documents that are asked for again; of a client that opens more, the oldest are left (chosen)."""


async def text_document_content(
    ls: UllageServer, params: types.TextDocumentContentParams
) -> types.TextDocumentContentResult:
    text, document = await _read(ls, params.uri)
    if document is not None:
        shown = ls.documents.shown
        shown.pop(params.uri, None)
        shown[params.uri] = document
        while len(shown) > MAX_SHOWN:
            del shown[next(iter(shown))]
    return types.TextDocumentContentResult(text=text)


async def run_show(ls: UllageServer, argument: ShowArgument) -> Outcome:
    """Give the text of such a document; a client that can opens it by itself."""
    text, _ = await _read(ls, argument.uri)
    await show_virtual_document(ls, argument.uri)
    return Outcome(outcome="done", message="", text=text, uri=argument.uri)


async def _read(ls: UllageServer, uri: str) -> tuple[str, ShownDocument | None]:
    """Give the text of a document, and of what it is where that is a session."""
    document = parse_virtual_uri(uri)
    if document is None:
        raise UnknownItem(f"{uri[:80]!r} is no document of Ullage")
    path = Path(document.session) if document.session else ls.gauge_path()

    def read() -> tuple[str, ShownDocument | None]:
        loaded: list[Loaded] = []

        def load_session(_: str | None) -> Loaded:
            if path is None:
                raise SessionNotFound(NO_SESSION)
            loaded.append(load(open_session(path), ls.config, ls.places, ls.worker.count_tokens))
            return loaded[0]

        def inspect_loaded(loaded: Loaded, n_largest: int) -> Inspection:
            return inspect_session(loaded, n_largest, ls.config)

        text = document_text(document, load_session, inspect_loaded, ls.config, ls.places)
        cwd = loaded[0].session.header.cwd if loaded else None
        workspace = Path(cwd) if cwd else None
        shown = None if path is None else ShownDocument(path, workspace, list_cited(text))
        return text, shown

    return await asyncio.to_thread(read)
