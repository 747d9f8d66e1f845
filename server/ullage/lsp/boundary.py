"""The boundary of the server: our errors become messages, bugs are logged without content."""

import functools
import logging
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from lsprotocol.types import LSPErrorCodes
from pygls.exceptions import JsonRpcException

from ullage.core.fault import where
from ullage.errors import UllageError

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)


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
            log.error("fault in %s:\n%s", handler.__name__, where(error))
            raise JsonRpcException(
                f"a fault of Ullage ({type(error).__name__}): see its log",
                LSPErrorCodes.RequestFailed,
            ) from None

    return answer
