"""The protocol as pygls speaks it, but for what does not fit us.

pygls runs a command under an id of its own, so that cancelling the request ends nothing, and it
keeps the request's progress token to itself; it wants an argument for each parameter. It knows no
`workspace/textDocumentContent` among the capabilities of a server. It keeps the text of every
open document: we read transcripts from disk and the texts of small documents from
`lsp/state.py`, so that nothing is held twice. And it counts columns as the client likes best; all
of our positions are in UTF-16 units, which every client must understand.
"""

from collections.abc import Awaitable, Callable, Generator
from typing import Any, cast

from lsprotocol import types
from pygls.protocol import LanguageServerProtocol, lsp_method

from ullage.core.documents.virtual_uri import SCHEME
from ullage.lsp.error_edge import client_token

Handling = Generator[Any, Any, Any]  # pyright: ignore[reportExplicitAny]: as pygls declares it
Called = tuple[Callable[..., Awaitable[object]], tuple[object, ...], dict[str, object]]


class UllageProtocol(LanguageServerProtocol):
    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Handling:
        if params.capabilities.general is not None:
            params.capabilities.general.position_encodings = None
        result = yield from super().lsp_initialize(params)
        if result.capabilities.workspace is not None:
            result.capabilities.workspace.text_document_content = types.TextDocumentContentOptions(
                schemes=[SCHEME]
            )
        return result

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(  # pyright: ignore[reportIncompatibleMethodOverride]: pygls awaits what is no generator
        self, params: types.ExecuteCommandParams
    ) -> object:
        # As with requests, no argument stands for the defaults.
        params.arguments = [{} if one is None else one for one in params.arguments or (None,)]
        token = client_token.set(params.work_done_token)
        try:
            handler, args, named = cast(
                Called, next(super().lsp_workspace__execute_command(params))
            )
            return await handler(*args, **named)
        finally:
            client_token.reset(token)

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Handling:
        yield self._handler(types.TEXT_DOCUMENT_DID_OPEN), (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Handling:
        yield self._handler(types.TEXT_DOCUMENT_DID_CHANGE), (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Handling:
        yield self._handler(types.TEXT_DOCUMENT_DID_CLOSE), (params,), None

    def _handler(self, method: str) -> object:
        return cast("dict[str, object]", self.fm.features)[method]
