"""The error edge of the server: our errors become answers, faults are logged without content."""

import functools
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import ParamSpec, TypeVar

from lsprotocol.types import LSPErrorCodes
from pygls.exceptions import JsonRpcException

from ullage.core.text.quoting import replace_steering
from ullage.errors import UllageError, describe_fault

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)


def plain_message(text: str) -> str:
    """Part what would be a link: VS Code runs commands by links in messages, whoever wrote them."""
    return replace_steering(text).replace("](", "] (")


def answer_errors(handler: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Answer a request with an error that is fit for the user, whatever went wrong."""

    @functools.wraps(handler)
    async def answer(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await handler(*args, **kwargs)
        except UllageError as error:
            message = plain_message(str(error))
            raise JsonRpcException(message, LSPErrorCodes.RequestFailed) from None
        except JsonRpcException:
            raise
        except Exception as error:
            log.error("fault in %s:\n%s", handler.__name__, describe_fault(error))
            raise JsonRpcException(
                f"a fault of Ullage ({type(error).__name__}): see its log",
                LSPErrorCodes.RequestFailed,
            ) from None

    return answer


def log_faults(
    work: Callable[P, Coroutine[None, None, None]],
) -> Callable[P, Coroutine[None, None, None]]:
    """Log what goes wrong in background work of the server."""

    @functools.wraps(work)
    async def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            await work(*args, **kwargs)
        except Exception as error:
            log.error("fault in %s:\n%s", work.__name__, describe_fault(error))

    return run
