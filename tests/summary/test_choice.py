"""Which model summarizes: only where one was asked for, then by the order of providers."""

import pytest

from ullage.summary.endpoint import FREE_MODEL, ModelChoice, Provider, choose_model

MINE = ModelChoice(provider="custom", model="mine", base_url="https://llm.example.test/v1")
FREE = ModelChoice(provider="openrouter", model=FREE_MODEL)
BOTH: frozenset[Provider] = frozenset(("openrouter", "openai"))


@pytest.mark.parametrize(
    ("configured", "session", "with_key", "expected"),
    [
        (MINE, ("gpt-4o", "openai"), BOTH, MINE),
        (MINE, (None, None), (), MINE),
        (None, ("gpt-4o", "openai"), BOTH, FREE),
        (None, ("gpt-4o", "openai"), ("openai",), ModelChoice(provider="openai", model="gpt-4o")),
        (None, ("gpt-5", None), ("openai",), ModelChoice(provider="openai", model="gpt-5")),
        (None, ("x/y", "openrouter"), ("openai",), None),
        (None, ("claude-opus-5", "anthropic"), ("openai",), None),
        (None, ("gpt-4o", "azure"), ("openai",), None),
        (None, (None, "openai"), ("openai",), None),
        (None, ("gpt-4o", "openai"), (), None),
        (None, (None, None), ("openrouter",), FREE),
    ],
)
def test_the_model_is_chosen_in_order(
    configured: ModelChoice | None,
    session: tuple[str | None, str | None],
    with_key: tuple[Provider, ...],
    expected: ModelChoice | None,
) -> None:
    chosen = choose_model(
        is_asked_for=True,
        configured=configured,
        session_model=session[0],
        session_provider=session[1],
        providers_with_key=frozenset(with_key),
    )
    assert chosen == expected


@pytest.mark.parametrize("configured", [None, MINE])
def test_a_key_in_the_environment_is_no_consent(configured: ModelChoice | None) -> None:
    chosen = choose_model(
        is_asked_for=False,
        configured=configured,
        session_model="gpt-4o",
        session_provider="openai",
        providers_with_key=BOTH,
    )
    assert chosen is None
