"""The client: one question to a model, with its tries, within its limits.

The openai package sends and decodes; its own retries are off, as two layers of them multiply.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from functools import cache, partial
from ssl import SSLContext
from typing import cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
import msgspec
import openai
from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

from ullage.core.summary.prompts import Prompt
from ullage.core.transcript.entries import JsonObject
from ullage.errors import BadAnswer, EndpointRefused, ModelBusy, ModelDenied, ModelUnreachable
from ullage.summary import failures
from ullage.summary.endpoint import BASE_URLS, ApiKey, Endpoint, check_origin, origin_of
from ullage.summary.limits import ClockAndJitter, Limits, pause_s, read_retry_after
from ullage.summary.request import Answer, Ask, Usage

_NO_KEY = "none"
"""The openai client wants one; the transport takes it out again."""
_TOO_LONG = "the model's answer is larger than {:,} bytes: not used"
_OWN_HEADERS = ("openai-organization", "openai-project")
"""The openai client takes them from the environment, whomever it talks to."""
_NATURAL = "stop"


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    client: openai.AsyncOpenAI
    endpoint: Endpoint
    limits: Limits
    chance: ClockAndJitter


class GuardedTransport(httpx2.AsyncBaseTransport):
    def __init__(
        self,
        inner: httpx2.AsyncBaseTransport,
        origin: str,
        key: ApiKey | None,
        max_bytes: int,
    ) -> None:
        self._inner = inner
        self._origin = origin
        self._key = key
        self._max_bytes = max_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to the endpoint's own origin.

        Raises:
            EndpointRefused: the request goes elsewhere.
            ModelDenied: the server sends us elsewhere.
            BadAnswer: the answer is not one that we read.
        """
        self._prepare(request)
        response = await self._inner.handle_async_request(request)
        try:
            self._check(response)
        except BaseException:
            await response.aclose()
            raise
        stream = cast(httpx2.AsyncByteStream, response.stream)
        return httpx2.Response(
            status_code=response.status_code,
            headers=response.headers,
            stream=_BoundedStream(stream, self._max_bytes),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _prepare(self, request: httpx2.Request) -> None:
        """Put the key into requests to its origin alone, and drop what it need not see."""
        origin = origin_of(str(request.url))
        if check_origin(origin) != self._origin:
            raise EndpointRefused(f"a request would have left {self._origin}: not sent")
        for name in list(request.headers):
            is_own = name in _OWN_HEADERS and origin != origin_of(BASE_URLS["openai"])
            if is_own or name.startswith("x-stainless-"):
                del request.headers[name]
        request.headers["accept-encoding"] = "identity"
        request.headers.pop("authorization", None)
        if self._key is not None:
            request.headers["authorization"] = f"Bearer {self._key.reveal_for(origin)}"

    def _check(self, response: httpx2.Response) -> None:
        status = response.status_code
        if 300 <= status < 400:
            raise ModelDenied(
                f"{self._origin} redirects elsewhere (HTTP {status}), which is not followed:"
                " set the address that it really has"
            )
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise BadAnswer("the model's answer is compressed although that was not asked for")
        length = response.headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > self._max_bytes:
            raise BadAnswer(_TOO_LONG.format(self._max_bytes))
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if status < 300 and kind != "text/event-stream":
            raise BadAnswer(
                "the model's answer is not an event stream: look whether the address is that of"
                " an OpenAI-compatible API, mostly ending in /v1"
            )


class _BoundedStream(httpx2.AsyncByteStream):
    """The body up to its limit; whoever iterates again, as the openai client does, goes on."""

    def __init__(self, inner: httpx2.AsyncByteStream, max_bytes: int) -> None:
        self._inner = inner
        self._chunks = aiter(inner)
        self._n_bytes_left = max_bytes
        self._max_bytes = max_bytes

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        chunk = await anext(self._chunks)
        self._n_bytes_left -= len(chunk)
        if self._n_bytes_left < 0:
            raise BadAnswer(_TOO_LONG.format(self._max_bytes))
        return chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Delta(msgspec.Struct, frozen=True, kw_only=True):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[JsonObject] | None = None
    function_call: JsonObject | None = None


class _Choice(msgspec.Struct, frozen=True, kw_only=True):
    delta: _Delta
    index: int = 0
    finish_reason: str | None = None


class _Chunk(msgspec.Struct, frozen=True, kw_only=True):
    choices: tuple[_Choice, ...] = ()
    usage: Usage | None = None


@asynccontextmanager
async def connect(
    endpoint: Endpoint, limits: Limits | None, chance: ClockAndJitter | None
) -> AsyncGenerator[Ask]:
    """Hold connections to an endpoint, and give what asks it; all are closed at the end."""
    limits = limits or endpoint.default_limits
    timeout = httpx2.Timeout(limits.idle_s, connect=limits.connect_s)
    inner = httpx2.AsyncHTTPTransport(verify=_certificates(), proxy=_proxy(endpoint))
    guarded = GuardedTransport(inner, endpoint.origin, endpoint.key, limits.max_body_bytes)
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
        connection = Connection(
            client=client, endpoint=endpoint, limits=limits, chance=chance or ClockAndJitter()
        )
        yield partial(ask, connection)


async def ask(connection: Connection, prompt: Prompt, max_tokens: int) -> Answer:
    """Ask a question, several times if need be.

    Raises:
        ModelError: there is no whole answer.
        EndpointRefused: the request would have left its origin.
    """
    limits, origin = connection.limits, connection.endpoint.origin
    try:
        async with asyncio.timeout(limits.total_s):
            return await _ask_until_answered(connection, prompt, max_tokens)
    except TimeoutError:
        pass
    # Outside of the handler: no chain of exceptions that leads to the request with its headers.
    raise ModelUnreachable(
        f"{origin} did not answer within {limits.total_s:.0f} seconds: try again later"
    )


async def _ask_until_answered(connection: Connection, prompt: Prompt, max_tokens: int) -> Answer:
    limits, chance = connection.limits, connection.chance
    n_failed = 0
    while True:
        outcome = await _try(connection, prompt, max_tokens)
        if isinstance(outcome, Answer):
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


async def _try(
    connection: Connection, prompt: Prompt, max_tokens: int
) -> Answer | failures.Failure:
    """Ask once; what the openai client raises becomes a value without its request."""
    origin = connection.endpoint.origin
    try:
        return await _send(connection, prompt, max_tokens)
    except openai.APITimeoutError:
        return failures.silence_failure(origin)
    except openai.APIConnectionError:
        return failures.connection_failure(origin)
    except openai.APIStatusError as error:
        retry_after = error.response.headers.get("retry-after")
        return failures.status_failure(error.status_code, error.response.text, retry_after, origin)
    except openai.APIError as error:
        return failures.stream_failure(error.message, error.code, origin)
    except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError):
        return failures.connection_failure(origin)
    except (ValueError, RecursionError):
        # Not JSON, not UTF-8, not of the protocol's shape, or nested beyond reason.
        error = BadAnswer("the model's answer is not in the form of the protocol: not used")
        return failures.Failure(error=error, is_transient=False)


async def _send(connection: Connection, prompt: Prompt, max_tokens: int) -> Answer:
    endpoint = connection.endpoint
    messages: tuple[ChatCompletionMessageParam, ...] = (
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": prompt.user},
    )
    is_openai = endpoint.provider == "openai"
    stream = await connection.client.chat.completions.create(
        model=endpoint.model,
        messages=messages,
        stream=True,
        stream_options={"include_usage": True},
        temperature=openai.omit if endpoint.temperature is None else endpoint.temperature,
        # OpenAI's newer models know only the one, most other servers only the other.
        max_completion_tokens=max_tokens if is_openai else openai.omit,
        max_tokens=openai.omit if is_openai else max_tokens,
    )
    async with stream:
        return await read_answer(stream)


@cache
def _certificates() -> SSLContext:
    """Make the context of TLS once: it reads the certificates from disk."""
    return httpx2.create_ssl_context()


def _proxy(endpoint: Endpoint) -> str | None:
    if not endpoint.uses_proxy_env or endpoint.is_local:
        return None
    host = urlsplit(endpoint.base_url).hostname or ""
    return None if proxy_bypass(host) else getproxies().get("https")


def _duration(seconds: float) -> str:
    return f"{seconds / 60:,.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"


async def read_answer(stream: AsyncIterable[ChatCompletionChunk]) -> Answer:
    """Read an answer to its end.

    Raises:
        BadAnswer: it is not a whole text that ended by itself.
    """
    texts: list[str] = []
    usage: Usage | None = None
    finish: str | None = None
    async for raw in stream:
        chunk = _check_chunk(raw)
        usage = chunk.usage or usage
        for choice in chunk.choices:
            if choice.index == 0:
                texts.append(_text_of(choice, finish))
                finish = choice.finish_reason or finish
    _check_finish(finish)
    return Answer(text="".join(texts), usage=usage)


def _check_chunk(raw: object) -> _Chunk:
    """Check a chunk's shape, which the openai client does not."""
    if not isinstance(raw, ChatCompletionChunk):
        raise BadAnswer("the model's answer is not in the form of the protocol: not used")
    return msgspec.convert(raw.to_dict(mode="json", warnings=False), _Chunk)


def _text_of(choice: _Choice, finish: str | None) -> str:
    delta = choice.delta
    if delta.refusal:
        raise BadAnswer("the model refused to summarize: try another one")
    if delta.tool_calls or delta.function_call:
        raise BadAnswer("the model called a tool instead of summarizing: try another one")
    if finish is not None and delta.content:
        raise BadAnswer("the model's answer went on after its end: not used")
    return delta.content or ""


def _check_finish(finish: str | None) -> None:
    if finish == _NATURAL:
        return
    match finish:
        case None:
            raise BadAnswer("the model's answer ended before it was whole: try again")
        case "length" | "max_tokens":
            raise BadAnswer("the model's answer was cut off at its limit of tokens: not used")
        case "content_filter":
            raise BadAnswer("the provider's content filter stopped the answer: try another model")
        case _:
            raise BadAnswer("the model's answer did not end as a text does: try another one")
