"""Keys come from the environment or the keyring, each for its own origin."""

import sys
from types import ModuleType

import keyring.errors
import pytest

from model_server import ModelServer, serving, text_reply
from model_session import CHANCE, GOOD, request_for
from ullage.errors import EndpointRefused
from ullage.summary.endpoint import (
    ApiKey,
    ModelChoice,
    Provider,
    endpoint_for,
    find_key,
    read_system_keyring,
)
from ullage.summary.limits import REMOTE
from ullage.summary.stages import summarize_with_model
from virtual_time import run_virtual

ENV = {
    "OPENROUTER_API_KEY": "key-of-openrouter",
    "OPENAI_API_KEY": "key-of-openai",
    "ULLAGE_API_KEY": "key-of-mine",
}
OWN_URL = "https://llm.example.test/v1"


def no_keyring(service: str, user: str) -> str | None:
    return None


def revealed(key: ApiKey | None) -> tuple[str, str] | None:
    return (key.origin, key.reveal_for(key.origin)) if key else None


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (
            ModelChoice(provider="openrouter", model="m"),
            ("https://openrouter.ai", "key-of-openrouter"),
        ),
        (ModelChoice(provider="openai", model="m"), ("https://api.openai.com", "key-of-openai")),
        (
            ModelChoice(provider="custom", model="m", base_url=OWN_URL),
            ("https://llm.example.test", "key-of-mine"),
        ),
        # A provider's key never goes to another address that calls itself the provider.
        (
            ModelChoice(provider="openai", model="m", base_url=OWN_URL),
            ("https://llm.example.test", "key-of-mine"),
        ),
        (
            ModelChoice(provider="openrouter", model="m", base_url="https://openrouter.ai/api/v2"),
            ("https://openrouter.ai", "key-of-openrouter"),
        ),
        (
            ModelChoice(provider="ollama", model="m"),
            ("http://127.0.0.1:11434", "key-of-mine"),
        ),
    ],
)
def test_each_address_has_its_own_variable(choice: ModelChoice, expected: tuple[str, str]) -> None:
    assert revealed(find_key(choice, ENV, no_keyring)) == expected


def test_the_keyring_is_asked_for_the_origin() -> None:
    asked: list[tuple[str, str]] = []

    def read(service: str, user: str) -> str | None:
        asked.append((service, user))
        return " from-the-keyring\n"

    choice = ModelChoice(provider="openrouter", model="m")
    found = find_key(choice, {"OPENROUTER_API_KEY": "  "}, read)
    assert revealed(found) == ("https://openrouter.ai", "from-the-keyring")
    assert asked == [("ullage", "https://openrouter.ai")]


def test_without_a_key_there_is_none() -> None:
    assert find_key(ModelChoice(provider="openai", model="m"), {}, no_keyring) is None


def test_no_key_is_looked_up_for_an_address_that_is_refused() -> None:
    choice = ModelChoice(provider="custom", model="m", base_url="http://169.254.169.254")
    with pytest.raises(EndpointRefused):
        find_key(choice, ENV, no_keyring)


def test_a_keyring_that_is_locked_or_missing_holds_no_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    locked = ModuleType("keyring")
    locked.errors = keyring.errors

    def get_password(service: str, user: str) -> str | None:
        raise keyring.errors.KeyringLocked

    locked.get_password = get_password
    monkeypatch.setitem(sys.modules, "keyring", locked)
    assert read_system_keyring("ullage", "https://openrouter.ai") is None
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert read_system_keyring("ullage", "https://openrouter.ai") is None


@pytest.mark.parametrize("provider", ["custom", "ollama", "openai"])
def test_the_key_of_a_local_server_goes_to_it_and_to_no_other(provider: Provider) -> None:
    async def main() -> tuple[ModelServer, ModelServer]:
        async with serving(text_reply(GOOD)) as server, serving(text_reply(GOOD)) as other:
            choice = ModelChoice(provider=provider, model="m", base_url=server.base_url)
            key = find_key(choice, ENV, no_keyring)
            endpoint = endpoint_for(choice, key=key, window_tokens=32_000)
            await summarize_with_model(request_for(), endpoint, limits=REMOTE, chance=CHANCE)
            elsewhere = ModelChoice(provider=provider, model="m", base_url=other.base_url)
            with pytest.raises(EndpointRefused, match="is not sent to"):
                endpoint_for(elsewhere, key=key, window_tokens=32_000)
            return server, other

    server, other = run_virtual(main)
    assert server.asked
    assert all("authorization: bearer key-of-mine\r\n" in a.head.lower() for a in server.asked)
    assert not other.n_connections
