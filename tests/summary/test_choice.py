"""Which model summarizes: the one that its user named, and no other."""

import pytest

from ullage.errors import EndpointRefused
from ullage.summary.endpoint import FREE_MODEL, ModelChoice, choose_model

URL = "https://llm.example.test/v1"


@pytest.mark.parametrize(
    ("provider", "name", "base_url", "expected"),
    [
        (None, None, None, None),
        ("openai", "gpt-5", None, ModelChoice(provider="openai", model="gpt-5")),
        ("OpenAI", "gpt-5", None, ModelChoice(provider="openai", model="gpt-5")),
        ("openrouter", None, None, ModelChoice(provider="openrouter", model=FREE_MODEL)),
        ("openrouter", "x/y", None, ModelChoice(provider="openrouter", model="x/y")),
        ("ollama", "llama", URL, ModelChoice(provider="ollama", model="llama", base_url=URL)),
        ("mine", "m", URL, ModelChoice(provider="custom", model="m", base_url=URL)),
        (None, "m", URL, ModelChoice(provider="custom", model="m", base_url=URL)),
        (None, "m", None, ModelChoice(provider="custom", model="m")),
    ],
)
def test_the_model_is_the_one_that_was_named(
    provider: str | None, name: str | None, base_url: str | None, expected: ModelChoice | None
) -> None:
    assert choose_model(provider, name, base_url) == expected


@pytest.mark.parametrize(
    ("provider", "base_url"), [("openai", None), ("ollama", None), (None, URL)]
)
def test_a_provider_without_a_model_is_refused(provider: str | None, base_url: str | None) -> None:
    with pytest.raises(EndpointRefused, match="no model is named"):
        choose_model(provider, None, base_url)
