"""The guard below the openai client: where requests go, with which key, and what may come back."""

from collections.abc import AsyncIterator
from functools import cache
from ssl import SSLContext, TLSVersion
from typing import Literal, TypeAlias, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from ullage.errors import BadAnswer, EndpointRefused, ModelDenied
from ullage.summary.endpoint import BASE_URLS, ApiKey, Endpoint, check_origin, origin_of

_TOO_LONG = "the model's answer is larger than {:,} bytes: not used"
_OWN_HEADERS = ("openai-organization", "openai-project")
"""The openai client takes them from the environment, whomever it talks to."""
ContentType: TypeAlias = Literal["text/event-stream", "application/json"]
_KINDS: dict[ContentType, str] = {
    "text/event-stream": "an event stream",
    "application/json": "JSON",
}


class GuardedTransport(httpx2.AsyncBaseTransport):
    def __init__(
        self,
        inner: httpx2.AsyncBaseTransport,
        origin: str,
        key: ApiKey | None,
        max_bytes: int,
        content_type: ContentType,
    ) -> None:
        self._inner = inner
        self._content_type: ContentType = content_type
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
        if status < 300 and kind != self._content_type:
            raise BadAnswer(
                f"the model's answer is not {_KINDS[self._content_type]}: look whether the address"
                " is that of an OpenAI-compatible API, mostly ending in /v1"
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


@cache
def certificates() -> SSLContext:
    """Make the context of TLS once: it reads the certificates from disk.

    A Python may be built to leave old protocols to the system's OpenSSL, as Debian's is.
    """
    context = httpx2.create_ssl_context()
    context.minimum_version = TLSVersion.TLSv1_2
    return context


def proxy_of(endpoint: Endpoint) -> str | None:
    """Give the proxy that the user's environment names for other machines.

    It learns which host is asked, and no more: what it tunnels is encrypted for that host.

    Raises:
        EndpointRefused: it is named in a form that is not understood.
    """
    host = urlsplit(endpoint.base_url).hostname or ""
    proxy = None if endpoint.is_local or proxy_bypass(host) else getproxies().get("https")
    if not proxy:
        return None
    url = proxy if "://" in proxy else f"http://{proxy}"
    if not url.startswith(("http://", "https://")):
        raise EndpointRefused(
            f"HTTPS_PROXY is not the address of an HTTP proxy: set it so, or NO_PROXY={host}"
        )
    return url
