"""Where a session and a key may go: to the endpoint that the user named, and nowhere else."""

import copy
import pickle

import httpx2
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.errors import EndpointRefused
from ullage.summary.endpoint import (
    ApiKey,
    ModelChoice,
    Provider,
    base_url_of,
    check_origin,
    endpoint_for,
    is_loopback,
    origin_of,
)

SECRET = "sk-canary-0123456789abcdef"
GOOD = {
    "https://api.openai.com/v1": "https://api.openai.com",
    "https://openrouter.ai/api/v1/": "https://openrouter.ai",
    "https://LLM.Example.test:8443/v1": "https://llm.example.test:8443",
    "https://llm.example.test:443": "https://llm.example.test",
    "http://localhost:11434/v1": "http://localhost:11434",
    "http://127.0.0.1:8080": "http://127.0.0.1:8080",
    "http://127.8.9.1:8080": "http://127.8.9.1:8080",
    "http://[::1]:8080/v1": "http://[::1]:8080",
    "https://10.0.0.5/v1": "https://10.0.0.5",
}
BAD = [
    "",
    "api.openai.com/v1",
    "file:///etc/passwd",
    "gopher://example.test",
    "ftp://example.test",
    "https://",
    "https://[::1/v1",
    "https://example.test:99999/v1",
    "https://münchen.test/v1",
    "https://exa mple.test/v1",
    "https://example.test\\@evil.test/v1",
    "https://example..test/v1",
    "https://[::1%25eth0]/v1",
    "http://example.test/v1",
    "http://10.0.0.5/v1",
    "http://localhost.example.test/v1",
    "http://127.0.0.1.example.test/v1",
    "http://169.254.169.254/latest",
    "https://169.254.169.254/latest",
    "https://169.254.10.20/v1",
    "https://[fe80::1]/v1",
    "https://[fd00:ec2::254]/v1",
    "https://[::ffff:169.254.169.254]/v1",
    "https://100.100.100.200/v1",
    "https://metadata.google.internal/v1",
    "https://METADATA.google.internal./v1",
    "https://2852039166/v1",
    "https://0xA9FEA9FE/v1",
    "https://0/v1",
    "https://0.0.0.0/v1",
    "https://[::]/v1",
    f"https://user:{SECRET}@example.test/v1",
    f"https://example.test/v1?key={SECRET}",
    f"https://example.test/v1#{SECRET}",
]


@pytest.mark.parametrize("url", GOOD)
def test_an_address_has_an_origin(url: str) -> None:
    assert check_origin(url) == GOOD[url]
    assert origin_of(url) == GOOD[url]


@given(
    st.sampled_from(
        ("https://", "http://", "https://a.test", "https://127.0.0.1", "https://[::1]")
    ),
    st.text(st.sampled_from("ab.:/@?#[]%\\0189 \n\t-_ü"), max_size=12),
)
def test_an_address_that_is_taken_means_the_same_to_the_client(begin: str, rest: str) -> None:
    try:
        origin = check_origin(begin + rest)
    except EndpointRefused:
        return
    assert origin_of(str(httpx2.URL(begin + rest))) == origin


@pytest.mark.parametrize("url", BAD)
def test_an_address_that_must_not_be_sent_to_is_refused_in_one_line(url: str) -> None:
    with pytest.raises(EndpointRefused) as refused:
        check_origin(url)
    assert len(str(refused.value).splitlines()) == 1
    assert SECRET not in str(refused.value)


def test_a_key_shows_in_no_representation() -> None:
    key = ApiKey(SECRET, "https://openrouter.ai")
    choice = ModelChoice(provider="openrouter", model="m")
    endpoint = endpoint_for(choice, key=key, window_tokens=1000)
    for shown in (repr(key), str(key), f"{key}", repr(endpoint), str(endpoint), repr([endpoint])):
        assert SECRET not in shown
    for write in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError):
            write(key)
    for value in (key, endpoint):
        with pytest.raises(TypeError):
            msgspec.json.encode(value)
    assert not hasattr(key, "__dict__")


@pytest.mark.parametrize(
    "other",
    [
        "https://openrouter.ai:8443",
        "http://openrouter.ai",
        "https://evil.test",
        "https://openrouter.ai.evil.test",
        "https://api.openai.com",
    ],
)
def test_a_key_goes_to_its_origin_alone(other: str) -> None:
    key = ApiKey(SECRET, "https://openrouter.ai")
    assert key.reveal_for("https://openrouter.ai") == SECRET
    with pytest.raises(EndpointRefused) as refused:
        key.reveal_for(other)
    assert SECRET not in str(refused.value)


def test_an_endpoint_refuses_the_key_of_another() -> None:
    key = ApiKey(SECRET, "https://openrouter.ai")
    choice = ModelChoice(provider="custom", model="m", base_url="https://llm.example.test/v1")
    with pytest.raises(EndpointRefused, match="is not sent to"):
        endpoint_for(choice, key=key, window_tokens=1000)


def test_only_a_local_endpoint_needs_no_key() -> None:
    local = ModelChoice(provider="ollama", model="m")
    assert endpoint_for(local, key=None, window_tokens=1000).is_local
    with pytest.raises(EndpointRefused, match="OPENAI_API_KEY"):
        endpoint_for(ModelChoice(provider="openai", model="m"), key=None, window_tokens=1000)


@pytest.mark.parametrize(
    ("provider", "model", "temperature"),
    [
        ("openai", "gpt-5-mini", None),
        ("openai", "o3", None),
        ("openai", "gpt-4o", 0.7),
        ("openrouter", "openai/gpt-5", 0.7),
    ],
)
def test_reasoning_models_keep_their_own_temperature(
    provider: Provider, model: str, temperature: float | None
) -> None:
    choice = ModelChoice(provider=provider, model=model, temperature=0.7)
    key = ApiKey(SECRET, check_origin(base_url_of(choice)))
    assert endpoint_for(choice, key=key, window_tokens=1000).temperature == temperature


def test_a_custom_provider_needs_an_address() -> None:
    with pytest.raises(EndpointRefused, match=r"compaction\.model\.baseUrl"):
        endpoint_for(ModelChoice(provider="custom", model="m"), key=None, window_tokens=1000)


def test_this_machine_is_told_from_others() -> None:
    assert all(map(is_loopback, ("localhost", "LOCALHOST.", "127.0.0.1", "::1", "127.255.0.9")))
    assert not any(map(is_loopback, ("", "localhost.evil.test", "128.0.0.1", "::2", "localhos")))
