"""The boundary of the server: our errors become messages, bugs are logged without content.

Parameters of requests of ours come as JSON gives them, and become the types of `protocol` here.
"""

import functools
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, ParamSpec, TypeVar, cast

import attrs
import msgspec
from cattrs import Converter
from cattrs.gen import make_dict_unstructure_fn
from lsprotocol.types import LSPErrorCodes
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.protocol import JsonRPCRequestMessage, default_converter

from ullage.errors import UllageError, describe_fault
from ullage.lsp import protocol

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A", bound=attrs.AttrsInstance)
S = TypeVar("S")

log = logging.getLogger(__name__)

client_token: Final[ContextVar[str | int | None]] = ContextVar("client_token", default=None)
"""The progress token that came with the request or the command that is being answered."""


def guarded(handler: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Answer a request with an error that is fit for the user, whatever went wrong."""

    @functools.wraps(handler)
    async def answer(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await handler(*args, **kwargs)
        except UllageError as error:
            raise JsonRpcException(str(error), LSPErrorCodes.RequestFailed) from None
        except JsonRpcException:
            raise
        except Exception as error:
            log.error("fault in %s:\n%s", handler.__name__, describe_fault(error))
            raise JsonRpcException(
                f"a fault of Ullage ({type(error).__name__}): see its log",
                LSPErrorCodes.RequestFailed,
            ) from None

    return answer


def unattended(
    task: Callable[P, Coroutine[None, None, None]],
) -> Callable[P, Coroutine[None, None, None]]:
    """Log what goes wrong in a task of the server's own, which nobody waits for."""

    @functools.wraps(task)
    async def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            await task(*args, **kwargs)
        except Exception as error:
            log.error("fault in %s:\n%s", task.__name__, describe_fault(error))

    return run


def plain_converter() -> Converter:
    """Convert messages as pygls does, but leave the parameters of our own requests plain.

    pygls makes named tuples of them, whose fields lose names that are no identifiers. It also
    leaves out what has its default value: in ours every field is there, as clients are told.
    """
    converter = default_converter()
    converter.register_structure_hook(JsonRPCRequestMessage, _as_it_is)

    def sender(cls: type[object]) -> Callable[[object], dict[str, object]]:
        return make_dict_unstructure_fn(cls, converter, _cattrs_omit_if_default=False)

    converter.register_unstructure_hook_factory(_is_ours, sender)
    return converter


def _is_ours(cls: type[object]) -> bool:
    return attrs.has(cls) and cls.__module__ == protocol.__name__


def request(
    argument_type: type[A],
) -> Callable[[Callable[[S, A], Awaitable[T]]], Callable[[S, object], Awaitable[T]]]:
    """Answer a request of ours, whose parameters become one typed argument."""

    def decorated(handler: Callable[[S, A], Awaitable[T]]) -> Callable[[S, object], Awaitable[T]]:
        @functools.wraps(handler)
        async def answer(ls: S, params: object) -> T:
            with progress_token(params) as rest:
                return await handler(ls, structured(rest, argument_type))

        return guarded(answer)

    return decorated


@contextmanager
def progress_token(params: object) -> Generator[object]:
    """Keep the token of a request's progress for who answers it, and give the rest."""
    if not isinstance(params, dict):
        yield params
        return
    rest = dict(cast("dict[str, object]", params))
    given = rest.pop("workDoneToken", None)
    token = client_token.set(given if isinstance(given, str | int) else None)
    try:
        yield rest
    finally:
        client_token.reset(token)


def structured(params: object, argument_type: type[A]) -> A:
    """Read the parameters of a request; none at all stand for the defaults.

    Raises:
        JsonRpcInvalidParams: they are not of the type, in one line.
    """
    given = cast(object, {}) if params is None else params
    if isinstance(given, dict):
        known = set(attrs.fields_dict(argument_type))
        unknown = cast("dict[str, object]", given).keys() - known
        if unknown:
            raise JsonRpcInvalidParams(
                f"wrong parameters: unknown {min(unknown)[:40]!r}; known are"
                f" {', '.join(sorted(known))}"
            )
    try:
        return msgspec.convert(given, argument_type)
    except msgspec.ValidationError as error:
        raise JsonRpcInvalidParams(f"wrong parameters: {error}") from None


def _as_it_is(message: dict[str, object], of: type[JsonRPCRequestMessage]) -> JsonRPCRequestMessage:
    return msgspec.convert({"params": None, **message}, of)
