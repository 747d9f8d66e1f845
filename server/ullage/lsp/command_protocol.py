"""The protocol as pygls speaks it, but for how commands are run and documents are offered.

pygls runs a command under an id of its own, so that cancelling the request ends nothing, and it
keeps the request's progress token to itself. It knows no `workspace/textDocumentContent` among
the capabilities of a server.
"""

from collections.abc import Awaitable, Callable, Generator
from typing import Any, cast

from lsprotocol import types
from pygls.protocol import LanguageServerProtocol, lsp_method

from ullage.core.virtual_uri import SCHEME
from ullage.lsp.boundary import client_token

Handling = Generator[Any, Any, Any]  # pyright: ignore[reportExplicitAny]: as pygls declares it
Called = tuple[Callable[..., Awaitable[object]], tuple[object, ...], dict[str, object]]


class CommandProtocol(LanguageServerProtocol):
    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Handling:
        result = cast(types.InitializeResult, (yield from super().lsp_initialize(params)))
        if result.capabilities.workspace is not None:
            result.capabilities.workspace.text_document_content = types.TextDocumentContentOptions(
                schemes=[SCHEME]
            )
        return result

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(self, params: types.ExecuteCommandParams) -> object:
        token = client_token.set(params.work_done_token)
        try:
            handler, args, named = cast(
                Called, next(super().lsp_workspace__execute_command(params))
            )
            return await handler(*args, **named)
        finally:
            client_token.reset(token)
