"""JSON-RPC 2.0 on one line: requests as they came in, answers as they go out."""

import json
from collections.abc import Mapping
from typing import Literal, TypeAlias, cast

import msgspec
from msgspec import UNSET, UnsetType

from ullage.agent.wire import ErrorKind, P, Wire
from ullage.core.transcript.entries import JsonObject
from ullage.formats.json_line import decode_any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
FAILED = -32000
"""An error of Ullage; `data.kind` says which."""
CANCELLED = -32800
"""As in the Language Server Protocol."""

RequestId: TypeAlias = int | str | None


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    """A request, or a notification where it has no id."""

    jsonrpc: Literal["2.0"]
    method: str
    id: int | str | UnsetType | None = UNSET
    params: object = None


class RpcError(Exception):
    """An error to answer with; JSON-RPC's own have no `kind`."""

    def __init__(self, code: int, message: str, kind: ErrorKind | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.kind: ErrorKind | None = kind


class Failure(RpcError):
    """An error of Ullage; `kind` says which."""

    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(FAILED, message, kind)


class BadLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line that is no request, and the error to answer with."""

    id: RequestId
    error: RpcError


def read_line(line: bytes) -> Incoming | BadLine:
    """Read a line; whatever stands in it, nothing is raised."""
    value = decode_any(line)
    if isinstance(value, msgspec.UnsetType):
        return BadLine(id=None, error=_parse_error(line))
    if isinstance(value, list):
        message = "batches are not supported: send one request a line"
        return BadLine(id=None, error=RpcError(INVALID_REQUEST, message))
    try:
        return msgspec.convert(value, Incoming)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        message = f"not a request of JSON-RPC 2.0: {error}"
        return BadLine(id=_id_of(value), error=RpcError(INVALID_REQUEST, message))


def _parse_error(line: bytes) -> RpcError:
    """Say what is wrong with a line that could not be read."""
    try:
        msgspec.json.decode(line)
    except RecursionError:
        return RpcError(PARSE_ERROR, "this line is nested too deeply: send fewer levels")
    except ValueError:
        pass
    return RpcError(PARSE_ERROR, "this line is not JSON: send one JSON object a line")


def read_params(params: object, shape: type[P]) -> P:
    """Read the params of a method.

    Raises:
        RpcError: they are not what it takes.
    """
    try:
        return msgspec.convert({} if params is None else params, shape)
    except (msgspec.ValidationError, OverflowError, UnicodeEncodeError) as error:
        raise RpcError(INVALID_PARAMS, f"wrong params: {error}") from None


def result_line(request_id: RequestId, result: Wire) -> bytes:
    return _line({"jsonrpc": "2.0", "id": request_id, "result": result})


def error_line(request_id: RequestId, error: RpcError) -> bytes:
    body: JsonObject = {"code": error.code, "message": str(error).replace("\n", " ")}
    if error.kind is not None:
        body["data"] = {"kind": error.kind}
    return _line({"jsonrpc": "2.0", "id": request_id, "error": body})


def _line(value: Mapping[str, object]) -> bytes:
    try:
        return msgspec.json.encode(value) + b"\n"
    except ValueError:  # a lone surrogate, which JavaScript takes as an escape
        plain = cast(object, msgspec.to_builtins(value))
        return json.dumps(plain, separators=(",", ":")).encode() + b"\n"


def _id_of(value: object) -> RequestId:
    request_id = cast(JsonObject, value).get("id") if isinstance(value, dict) else None
    is_bool = isinstance(request_id, bool)
    return request_id if isinstance(request_id, int | str) and not is_bool else None
