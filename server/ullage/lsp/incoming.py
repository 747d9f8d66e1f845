"""Messages as they come in: every request gets one answer, whatever is wrong with it.

pygls 2.1.1 leaves without an answer what is no JSON or no request, a request with wrong
parameters, and one after the shutdown; whoever waits for an answer of the client that is not of
its type waits for ever. It takes every object with a field `jsonrpc` for a message, also those
within a message.
"""

from typing import Literal, TypeAlias, cast

import msgspec
from cattrs import transform_error
from lsprotocol import types
from msgspec import UNSET, UnsetType
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import JsonRPCNotification, JsonRPCRequestMessage, LanguageServerProtocol
from pygls.protocol.json_rpc import RPCMessage

Fields: TypeAlias = dict[str, object]
RequestId: TypeAlias = int | str


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """A request, or a notification where it has no id."""

    jsonrpc: Literal["2.0"]
    method: str
    id: RequestId | UnsetType = UNSET


class AnsweringProtocol(LanguageServerProtocol):
    _is_ending = False
    """Whether a shutdown was asked for; a second one beside it is a fault in pygls."""

    def structure_message(self, data: Fields) -> Fields:
        """Leave an object as it is: only of a whole message is known what it is."""
        return data

    def handle_message(self, message: object) -> None:
        fields = cast(Fields, message) if isinstance(message, dict) else {}
        if "method" not in fields and ("result" in fields or "error" in fields):
            self._take_answer(fields)
            return
        try:
            envelope = msgspec.convert(message, Envelope)
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            wrong = JsonRpcInvalidRequest(f"not a request of JSON-RPC 2.0: {error}")
            self._refuse(_id_of(fields), wrong)
            return
        try:
            self._take(fields, envelope)
        except JsonRpcException as error:
            if not isinstance(envelope.id, UnsetType):
                self._refuse(envelope.id, error)

    def refuse_unread(self, error: Exception) -> None:
        """Answer to a message that could not even be read; whose it was nobody knows."""
        if isinstance(error, ValueError | RecursionError):
            self._refuse(None, JsonRpcParseError("this message is not JSON"))

    def _take(self, message: Fields, envelope: Envelope) -> None:
        is_request = envelope.id is not UNSET
        fallback = JsonRPCRequestMessage if is_request else JsonRPCNotification
        shape = self.get_message_type(envelope.method) or fallback
        try:
            typed = cast(RPCMessage, self._converter.structure(message, shape))
        except Exception as error:
            problem = transform_error(error)[0]
            raise JsonRpcInvalidParams(f"wrong parameters: {problem}") from None
        if is_request and not hasattr(typed, "id"):
            raise JsonRpcInvalidRequest(f"{envelope.method} is a notification: send it without id")
        if is_request:
            self._refuse_untimely(envelope.method)
            self._is_ending = envelope.method == types.SHUTDOWN
        super().handle_message(typed)

    def _refuse_untimely(self, method: str) -> None:
        """Refuse a request that comes too early or too late.

        Raises:
            JsonRpcException: in one line.
        """
        if self._is_ending:
            raise JsonRpcInvalidRequest("the server is shut down: send nothing more but exit")
        if (self._workspace is None) != (method == types.INITIALIZE):
            if method == types.INITIALIZE:
                raise JsonRpcInvalidRequest("the server is initialized already")
            raise JsonRpcServerNotInitialized("send initialize first")

    def _take_answer(self, answer: Fields) -> None:
        request_id = _id_of(answer)
        if request_id is None:
            return
        try:
            typed = super().structure_message({**answer, "jsonrpc": self.VERSION})
        except JsonRpcException as error:
            typed = types.ResponseErrorMessage(id=request_id, error=error.to_response_error())
        super().handle_message(cast(RPCMessage, typed))

    def _send_response(
        self, msg_id: RequestId, result: object = None, error: types.ResponseError | None = None
    ) -> None:
        if error is not None:
            error.data = None  # a traceback, where pygls has a fault of its own
        super()._send_response(msg_id, result, error)

    def _refuse(self, request_id: RequestId | None, error: JsonRpcException) -> None:
        # Not as lsprotocol has it, which leaves out an id that is null.
        shown = {"code": error.code, "message": error.message}
        self._send_data({"jsonrpc": self.VERSION, "id": request_id, "error": shown})


def _id_of(message: Fields) -> RequestId | None:
    request_id = message.get("id")
    is_bool = isinstance(request_id, bool)
    return request_id if isinstance(request_id, int | str) and not is_bool else None
