"""Read-only documents of the scheme `ullage`, for clients that show such and for those that ask."""

import asyncio

from lsprotocol import types

from ullage.app.documents.virtual_documents import document_text
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.core.documents.virtual_uri import parse_virtual_uri
from ullage.errors import SessionNotFound, UnknownItem
from ullage.lsp.error_edge import guarded
from ullage.lsp.protocol import Outcome, ShowArgument
from ullage.lsp.session import session_path
from ullage.lsp.state import UllageServer

MAX_SHOWN = 100
"""Documents that are renewed; of a client that opens more, the oldest are left (chosen)."""


@guarded
async def text_document_content(
    ls: UllageServer, params: types.TextDocumentContentParams
) -> types.TextDocumentContentResult:
    text = await _text(ls, params.uri)
    _remember(ls, params.uri)
    return types.TextDocumentContentResult(text=text)


@guarded
async def run_show(ls: UllageServer, argument: ShowArgument) -> Outcome:
    """Give the text of such a document; a client that can opens it by itself."""
    text = await _text(ls, argument.uri)
    await show_text(ls, argument.uri)
    return Outcome(outcome="done", message="", text=text, uri=argument.uri)


async def show_text(ls: UllageServer, uri: str) -> None:
    """Have a client open such a document that does not do so by itself, if it can."""
    if ls.shows_virtual_documents and not ls.editor.shows_outcomes:
        await ls.window_show_document_async(types.ShowDocumentParams(uri=uri))


async def _text(ls: UllageServer, uri: str) -> str:
    document = parse_virtual_uri(uri)
    if document is None:
        raise UnknownItem(f"{uri[:80]!r} is no document of Ullage")
    meant = session_path(ls, document.session)

    def load_session(_: str | None) -> Loaded:
        if meant is None:
            raise SessionNotFound(
                "no session of an agent in this workspace: open a transcript first"
            )
        return load(open_session(meant), ls.config, ls.places, ls.worker.count_tokens)

    return await asyncio.to_thread(document_text, document, load_session, ls.config, ls.places)


def _remember(ls: UllageServer, uri: str) -> None:
    document = parse_virtual_uri(uri)
    path = None if document is None else session_path(ls, document.session)
    if path is None:
        return
    ls.documents.shown.pop(uri, None)
    ls.documents.shown[uri] = path
    while len(ls.documents.shown) > MAX_SHOWN:
        del ls.documents.shown[next(iter(ls.documents.shown))]
