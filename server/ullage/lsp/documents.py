"""Documents that open and close in the editor; their text is read from disk, not from here."""

from lsprotocol import types

from ullage.lsp.boundary import guarded
from ullage.lsp.convert import path_of
from ullage.lsp.follow import publish, refresh, show_gauge
from ullage.lsp.kinds import document_at
from ullage.lsp.preview_document import publish_proposal
from ullage.lsp.state import UllageServer


@guarded
async def did_open(ls: UllageServer, params: types.DidOpenTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    if path is None:
        return
    ls.open_uris.pop(path, None)
    ls.open_uris[path] = params.text_document.uri
    if path in ls.followed:
        publish(ls, path)
    document = document_at(ls, params.text_document.uri)
    if document is not None and document[1] == "preview":
        await publish_proposal(ls, path)
        return
    await refresh(ls, path)


@guarded
async def did_close(ls: UllageServer, params: types.DidCloseTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    if path is None or path not in ls.open_uris:
        return
    uri = ls.open_uris.pop(path)
    ls.outlines.pop(path, None)
    ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=[]))
    if path not in ls.followed_paths():
        ls.followed.pop(path, None)
    show_gauge(ls)
