"""A key stays with its origin on a hostile network: TLS, proxies, and names that lead elsewhere."""

import asyncio
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from model_faults import FINE, shown
from model_server import ModelServer, Reply, head, served, serving
from model_session import CANARY, KEY, summarize
from ullage.errors import EndpointRefused, ModelDenied, ModelError, ModelUnreachable
from ullage.summary.endpoint import ApiKey, Endpoint, ModelChoice, endpoint_for
from ullage.summary.request import ModelSummary
from ullage.summary.transport import certificates, proxy_of
from virtual_time import run_virtual

CERTIFICATES = Path(__file__).parent / "certificates"
"""Of these tests alone, for 100 years, each with its key: of 127.0.0.1, and of elsewhere.test."""
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy")


def with_tls(name: str, *replies: Reply) -> ModelServer:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / f"{name}.pem")
    return ModelServer(replies, tls=context)


@pytest.fixture(autouse=True)
def certificates_are_read_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in (*PROXY_VARIABLES, "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    certificates.cache_clear()
    yield
    certificates.cache_clear()


def trust(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / f"{name}.pem"))


async def outcome_of(
    server: ModelServer, endpoint: Endpoint | None = None
) -> ModelSummary | ModelError:
    try:
        return await summarize(server, endpoint=endpoint)
    except ModelError as error:
        failed = error
    assert KEY not in shown(failed)
    assert CANARY not in str(failed)
    return failed


def asked_over_tls(server: ModelServer) -> ModelSummary | ModelError:
    async def main() -> ModelSummary | ModelError:
        async with served(server):
            return await outcome_of(server)

    # Not in virtual time: a handshake takes some of the real one.
    return asyncio.run(main())


def test_a_certificate_that_its_user_trusts_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    trust(monkeypatch, "here")
    server = with_tls("here", FINE)
    assert isinstance(asked_over_tls(server), ModelSummary)
    assert KEY in server.asked[0].head


@pytest.mark.parametrize(("shown_by_server", "trusted"), [("here", None), ("elsewhere",) * 2])
def test_nothing_is_sent_to_whom_no_trusted_certificate_names(
    shown_by_server: str, trusted: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A self-signed one; and a trusted one of another host, as where a name leads elsewhere."""
    if trusted is not None:
        trust(monkeypatch, trusted)
    server = with_tls(shown_by_server, FINE)
    outcome = asked_over_tls(server)
    assert isinstance(outcome, ModelDenied)
    assert "SSL_CERT_FILE" in str(outcome)
    assert (server.asked, server.n_connections) == ([], 0)


def test_certificates_are_checked_and_old_protocols_refused() -> None:
    context = certificates()
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize("status", [301, 307, 308])
def test_a_redirect_from_tls_to_plain_text_is_not_followed(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust(monkeypatch, "here")

    async def main() -> tuple[ModelSummary | ModelError, int]:
        async with serving(FINE) as plain:
            away = (head(status, location=f"{plain.base_url}/chat/completions"),)
            async with served(with_tls("here", away)) as server:
                return await outcome_of(server), plain.n_connections

    outcome, n_connections = asyncio.run(main())
    assert isinstance(outcome, ModelDenied)
    assert "redirects elsewhere" in str(outcome)
    assert n_connections == 0


def remote() -> Endpoint:
    choice = ModelChoice(provider="custom", model="m", base_url="https://llm.example.test/v1")
    key = ApiKey(KEY, "https://llm.example.test")
    return endpoint_for(choice, key=key, window_tokens=32_000)


def name_proxy(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    for name in PROXY_VARIABLES:
        monkeypatch.setenv(name, address)


def test_no_proxy_is_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> tuple[ModelSummary | ModelError, int]:
        async with serving(FINE) as proxy, serving(FINE) as server:
            name_proxy(monkeypatch, f"http://127.0.0.1:{proxy.port}")
            return await outcome_of(server), proxy.n_connections

    outcome, n_connections = run_virtual(main)
    assert isinstance(outcome, ModelSummary)
    assert n_connections == 0


@pytest.mark.parametrize(
    "reply",
    [
        (head(200),),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"no TLS"),
        (head(302, location="http://127.0.0.1:1/"),),
        (head(407),),
    ],
    ids=("closes", "speaks plain text", "redirects", "wants a password"),
)
def test_a_proxy_learns_the_host_and_no_more(reply: Reply, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> tuple[ModelSummary | ModelError, ModelServer]:
        async with serving(reply) as proxy:
            name_proxy(monkeypatch, f"http://user:pass@127.0.0.1:{proxy.port}")
            return await outcome_of(proxy, remote()), proxy

    outcome, proxy = run_virtual(main)
    assert isinstance(outcome, ModelUnreachable)
    assert proxy.asked
    for asked in proxy.asked:
        assert asked.head.startswith("CONNECT llm.example.test:443 ")
        assert KEY not in asked.head
        assert not asked.body


def test_the_proxy_of_the_environment_is_for_other_machines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert proxy_of(remote()) is None
    monkeypatch.setenv("https_proxy", "proxy.test:3128")
    assert proxy_of(remote()) == "http://proxy.test:3128"
    monkeypatch.setenv("no_proxy", "example.test")
    assert proxy_of(remote()) is None


def test_a_proxy_that_is_none_of_http_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "socks5://user:pass@127.0.0.1:1080")
    with pytest.raises(EndpointRefused, match="HTTPS_PROXY") as refused:
        proxy_of(remote())
    assert "pass" not in str(refused.value).replace("bypass", "")
