"""The guard below the openai client: no request leaves its origin, whoever makes it."""

import httpx2
import pytest

from model_server import serving, text_reply
from model_session import GOOD, KEY
from ullage.errors import EndpointRefused
from ullage.summary.endpoint import ApiKey
from ullage.summary.transport import GuardedTransport
from virtual_time import run_virtual

HERE = "http://127.0.0.1:1"


@pytest.mark.parametrize("key", [None, ApiKey(KEY, HERE)])
@pytest.mark.parametrize("is_followed", [False, True])
def test_no_request_leaves_its_origin(key: ApiKey | None, is_followed: bool) -> None:
    async def main() -> int:
        async with serving(text_reply(GOOD)) as other:
            guarded = GuardedTransport(
                httpx2.AsyncHTTPTransport(), HERE, key, 1000, "application/json"
            )
            async with httpx2.AsyncClient(
                transport=guarded, follow_redirects=is_followed
            ) as client:
                with pytest.raises(EndpointRefused):
                    await client.post(other.base_url, json={"secret": "of the session"})
            return other.n_connections

    assert run_virtual(main) == 0
