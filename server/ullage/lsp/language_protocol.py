"""The protocol as pygls speaks it, but for what does not fit us.

pygls runs a command under an id of its own, so that cancelling the request ends nothing, and it
keeps the request's progress token to itself; it makes of any argument one of the right type. It
knows no `workspace/textDocumentContent` among the capabilities of a server. It keeps the text of
every open document: we read transcripts from disk and the texts of small documents from
`lsp/state.py`, so that nothing is held twice. It counts columns as the client likes best; all
of our positions are in UTF-16 units, which every client must understand. And it makes named
tuples of the parameters of our own requests, whose fields lose names that are no identifiers.
"""

from collections.abc import Awaitable, Callable, Generator
from contextvars import ContextVar
from typing import Any, Final, TypeAlias, cast

import attrs
import msgspec
from cattrs import Converter
from cattrs.gen import make_dict_unstructure_fn, override
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.protocol import JsonRPCRequestMessage, default_converter, lsp_method

from ullage.core.documents.virtual_uri import SCHEME
from ullage.lsp import protocol
from ullage.lsp.error_edge import plain_message
from ullage.lsp.incoming import AnsweringProtocol, Fields

Handling = Generator[Any, Any, Any]  # pyright: ignore[reportExplicitAny]: as pygls declares it
Run: TypeAlias = Callable[[object], Awaitable[object]]

_SHOWN = frozenset(("title", "detail", "label", "message", "itemText", "question"))
"""Fields of ours that are shown as plain text, whatever of a session stands in them."""
client_token: Final[ContextVar[str | int | None]] = ContextVar("client_token", default=None)
"""The progress token that came with the request or the command that is being answered."""


class UllageProtocol(AnsweringProtocol):
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
        handler = cast("dict[str, Run]", self.fm.commands).get(params.command)
        if handler is None:
            raise JsonRpcInvalidParams(f"there is no command {params.command!r}")
        arguments = params.arguments or [None]
        if len(arguments) > 1:
            raise JsonRpcInvalidParams("a command takes one argument, an object")
        token = client_token.set(params.work_done_token)
        try:
            return await handler(arguments[0])
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


def plain_converter() -> Converter:
    """Convert messages as pygls does, but leave the parameters of our own requests plain.

    pygls also leaves out what has its default value: in ours every field is there, as clients
    are told.
    """
    converter = default_converter()
    converter.register_structure_hook(JsonRPCRequestMessage, _keep_params)

    def write_all_fields(cls: type[attrs.AttrsInstance]) -> Callable[[object], Fields]:
        # Its overrides are names of fields, which could be those of its options: not for pyright.
        make = cast(Callable[..., Callable[[object], Fields]], make_dict_unstructure_fn)
        shown = _SHOWN & attrs.fields_dict(cls).keys()
        overrides = {name: override(unstruct_hook=plain_message) for name in shown}
        return make(cls, converter, _cattrs_omit_if_default=False, **overrides)

    converter.register_unstructure_hook_factory(_is_ours, write_all_fields)
    return converter


def _is_ours(cls: type[object]) -> bool:
    return attrs.has(cls) and cls.__module__ == protocol.__name__


def _keep_params(
    message: dict[str, object], of: type[JsonRPCRequestMessage]
) -> JsonRPCRequestMessage:
    return msgspec.convert({"params": None, **message}, of)
