"""The client: one request to a model's server, with its tries, within its limits.

The openai package sends and decodes; its own retries are off, as two layers of them multiply.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import httpx2
import msgspec
import openai

from ullage.errors import BadAnswer, ModelBusy, ModelUnreachable
from ullage.summary import failures
from ullage.summary.endpoint import Endpoint
from ullage.summary.limits import ClockAndJitter, Limits, pause_s, read_retry_after
from ullage.summary.transport import ContentType, GuardedTransport, certificates, proxy_of

T = TypeVar("T")

_NO_KEY = "none"
"""The openai client wants one; the transport takes it out again."""


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    client: openai.AsyncOpenAI
    endpoint: Endpoint
    limits: Limits
    chance: ClockAndJitter


@asynccontextmanager
async def open_connection(
    endpoint: Endpoint, limits: Limits, chance: ClockAndJitter | None, content_type: ContentType
) -> AsyncGenerator[Connection]:
    """Hold connections to an endpoint that answers in one form; all are closed at the end."""
    timeout = httpx2.Timeout(limits.idle_s, connect=limits.connect_s)
    inner = httpx2.AsyncHTTPTransport(verify=certificates(), proxy=proxy_of(endpoint))
    guarded = GuardedTransport(
        inner, endpoint.origin, endpoint.key, limits.max_body_bytes, content_type
    )
    async with (
        httpx2.AsyncClient(
            transport=guarded, timeout=timeout, follow_redirects=False, trust_env=False
        ) as http_client,
        openai.AsyncOpenAI(
            base_url=endpoint.base_url,
            api_key=_NO_KEY,
            max_retries=0,
            timeout=timeout,
            http_client=http_client,
        ) as client,
    ):
        yield Connection(
            client=client, endpoint=endpoint, limits=limits, chance=chance or ClockAndJitter()
        )


async def send_request(connection: Connection, send: Callable[[], Awaitable[T]]) -> T:
    """Send a request, several times if need be.

    Raises:
        ModelError: there is no whole answer.
        EndpointRefused: the request would have left its origin.
    """
    limits, origin = connection.limits, connection.endpoint.origin
    try:
        async with asyncio.timeout(limits.total_s):
            return await _send_until_answered(connection, send)
    except TimeoutError:
        pass
    # Outside of the handler: no chain of exceptions that leads to the request with its headers.
    raise ModelUnreachable(
        f"{origin} did not answer within {limits.total_s:.0f} seconds: try again later"
    )


async def _send_until_answered(connection: Connection, send: Callable[[], Awaitable[T]]) -> T:
    limits, chance = connection.limits, connection.chance
    n_failed = 0
    while True:
        outcome = await _try(connection, send)
        if not isinstance(outcome, failures.Failure):
            return outcome
        n_failed += 1
        if not outcome.is_transient or n_failed == limits.max_tries:
            raise outcome.error
        retry_after_s = read_retry_after(outcome.retry_after, chance.now())
        if retry_after_s is not None and retry_after_s > limits.max_wait_s:
            raise ModelBusy(
                f"{connection.endpoint.origin} asks for a pause of {_duration(retry_after_s)}:"
                " try again then"
            )
        await asyncio.sleep(pause_s(n_failed, retry_after_s, limits, chance.jitter()))


async def _try(connection: Connection, send: Callable[[], Awaitable[T]]) -> T | failures.Failure:
    """Send once; what the openai client raises becomes a value without its request."""
    origin = connection.endpoint.origin
    try:
        return await send()
    except openai.APITimeoutError:
        return failures.silence_failure(origin)
    except openai.APIConnectionError as error:
        return failures.connection_failure(origin, error)
    except openai.APIStatusError as error:
        retry_after = error.response.headers.get("retry-after")
        return failures.status_failure(error.status_code, error.response.text, retry_after, origin)
    except openai.APIError as error:
        return failures.stream_failure(error.message, error.code, origin)
    except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError) as error:
        return failures.connection_failure(origin, error)
    except (ValueError, RecursionError):
        # Not JSON, not UTF-8, not of the protocol's shape, or nested beyond reason.
        error = BadAnswer("the model's answer is not in the form of the protocol: not used")
        return failures.Failure(error=error, is_transient=False)


def _duration(seconds: float) -> str:
    return f"{seconds / 60:,.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"
