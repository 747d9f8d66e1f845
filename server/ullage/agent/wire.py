"""JSON-RPC 2.0 on one line: what came in, and what goes out."""

import json
from collections.abc import Mapping
from typing import Literal, TypeAlias, cast

import msgspec
from msgspec import UNSET, UnsetType

from ullage.agent.protocol import (
    FAILED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorKind,
    P,
    Wire,
)
from ullage.core.transcript.message import JsonObject
from ullage.formats.json_line import decode_any

RequestId: TypeAlias = int | str | None


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    """A request, or a notification where it has no id."""

    jsonrpc: Literal["2.0"]
    method: str
    id: int | str | UnsetType | None = UNSET
    params: object = None


class RpcError(Exception):
    """An error to answer with; `kind` is given with our own."""

    def __init__(self, code: int, message: str, kind: ErrorKind | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.kind: ErrorKind | None = kind


def refused(kind: ErrorKind, message: str) -> RpcError:
    return RpcError(FAILED, message, kind)


class Unusable(msgspec.Struct, frozen=True, kw_only=True):
    """A line that is no request, and whom to tell."""

    id: RequestId
    error: RpcError


def read_line(line: bytes) -> Incoming | Unusable:
    """Read a line; whatever stands in it, nothing is raised."""
    value = decode_any(line)
    if isinstance(value, msgspec.UnsetType):
        return Unusable(id=None, error=_unread(line))
    if isinstance(value, list):
        message = "batches are not supported: send one request a line"
        return Unusable(id=None, error=RpcError(INVALID_REQUEST, message))
    try:
        return msgspec.convert(value, Incoming)
    except msgspec.ValidationError as error:
        message = f"not a request of JSON-RPC 2.0: {error}"
        return Unusable(id=_id_of(value), error=RpcError(INVALID_REQUEST, message))


def _unread(line: bytes) -> RpcError:
    """Tell what is wrong with a line that could not be read."""
    try:
        msgspec.json.decode(line)
    except RecursionError:
        return RpcError(PARSE_ERROR, "this line is nested too deeply: send fewer levels")
    except ValueError:
        pass
    return RpcError(PARSE_ERROR, "this line is not JSON: send one JSON object a line")


def read_params(params: object, of: type[P]) -> P:
    """Read the params of a method.

    Raises:
        RpcError: they are not what it takes.
    """
    try:
        return msgspec.convert({} if params is None else params, of)
    except (msgspec.ValidationError, OverflowError) as error:
        raise RpcError(INVALID_PARAMS, f"wrong params: {error}") from None


def result_line(request_id: RequestId, result: Wire) -> bytes:
    return _line({"jsonrpc": "2.0", "id": request_id, "result": result})


def error_line(request_id: RequestId, error: RpcError) -> bytes:
    told: JsonObject = {"code": error.code, "message": str(error).replace("\n", " ")}
    if error.kind is not None:
        told["data"] = {"kind": error.kind}
    return _line({"jsonrpc": "2.0", "id": request_id, "error": told})


def _line(value: Mapping[str, object]) -> bytes:
    try:
        return msgspec.json.encode(value) + b"\n"
    except ValueError:  # a lone surrogate, which JavaScript takes as an escape
        plain = cast(object, msgspec.to_builtins(value))
        return json.dumps(plain, separators=(",", ":")).encode() + b"\n"


def _id_of(value: object) -> RequestId:
    found = cast(JsonObject, value).get("id") if isinstance(value, dict) else None
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None
