"""The window: the names of models, and what disproves a window."""

import msgspec
import pytest

from factories import context_of, user
from ullage.core.config.settings import Config
from ullage.core.gauge.agent_figures import ToldWindow
from ullage.core.gauge.window import (
    DEFAULT_WINDOW,
    ModelRow,
    Window,
    WindowSource,
    check_window,
    is_same_model,
    resolve_window,
    strip_model,
)


@pytest.mark.parametrize(
    "name",
    [
        "claude-opus-4-6",
        "claude-opus-4-6[1m]",
        "Claude-Opus-4-6",
        "claude-opus-4.6",
        "anthropic/claude-opus-4.6",
        "openrouter/anthropic/claude-opus-4.6:free",
        "claude-opus-4-6-20260105",
        "claude-opus-4-6@20260105",
        "claude-opus-4-6-latest",
        "anthropic.claude-opus-4-6",
        "us.anthropic.claude-opus-4-6-v1",
        "eu.anthropic.claude-opus-4-6-20260105-v1:0",
        "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-6-v1:0",
    ],
)
def test_one_model_has_many_names(name: str) -> None:
    assert strip_model(name) == "claude-opus-4-6"
    assert is_same_model(name, "claude-opus-4-6")


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("gpt-5", "gpt-5.9"),
        ("gpt-5", "gpt-5-mini"),
        ("claude-opus-4", "claude-opus-4-6"),
        ("deepseek-v3", "deepseek-v3.2"),
        ("deepseek", "deepseek-v3"),
        ("llama3.1:8b", "llama3.1:70b"),
        ("gpt-4-0613", "gpt-4"),
    ],
)
def test_another_number_is_another_model(name: str, other: str) -> None:
    assert not is_same_model(name, other)


def window(n_tokens: int, source: WindowSource = "model table") -> Window:
    return Window(n_tokens=n_tokens, source=source, detail="a catalogue")


@pytest.mark.parametrize(
    ("n_sent", "larger", "expected"),
    [
        (0, (), 200_000),
        (200_000, (1_000_000,), 200_000),
        (200_001, (1_000_000,), 1_000_000),
        (200_001, (272_000, 400_000), 272_000),
        (300_000, (272_000, 400_000), 400_000),
        (500_000, (272_000, 400_000), 1_000_000),
        (200_001, (), 1_000_000),
        (1_200_000, (), 1_200_000),
    ],
)
def test_a_request_beyond_the_window_disproves_it(
    n_sent: int, larger: tuple[int, ...], expected: int
) -> None:
    checked = check_window(window(200_000), n_sent, larger)
    assert checked.n_tokens == expected
    is_disproved = n_sent > 200_000
    assert (checked.source == "disproved") == is_disproved
    assert checked.is_certain != is_disproved
    if is_disproved:
        assert f"{n_sent:,} tokens were sent, more than 200,000 by model table" in checked.detail


@pytest.mark.parametrize(("n_sent", "is_disproved"), [(272_000, False), (272_001, True)])
def test_what_an_agent_records_may_be_less_than_the_whole(
    n_sent: int, *, is_disproved: bool
) -> None:
    checked = check_window(window(258_400, "agent"), n_sent, (400_000,))
    assert (checked.source == "disproved") == is_disproved


def test_what_the_user_set_is_not_disproved() -> None:
    context = msgspec.structs.replace(context_of([user("one")]), n_sent_before=5000)
    resolved = resolve_window(context, Config(window_tokens=1000), None, None)
    assert (resolved.n_tokens, resolved.source) == (1000, "setting")


def test_only_a_guess_and_a_disproved_window_are_uncertain() -> None:
    sources: tuple[WindowSource, ...] = ("setting", "agent", "configuration", "model table")
    assert all(window(1000, source).is_certain for source in sources)
    assert not DEFAULT_WINDOW.is_certain


@pytest.mark.parametrize(
    ("told", "recorded", "expected"),
    [
        ("claude-opus-4-6", None, (500_000, "agent")),
        ("another-model", None, (200_000, "model table")),
        ("claude-opus-4-6", 300_000, (300_000, "agent")),
    ],
)
def test_a_window_that_was_told_counts_behind_what_the_session_records_of_its_model(
    told: str, recorded: int | None, expected: tuple[int, str]
) -> None:
    context = context_of([user("one")])
    context = msgspec.structs.replace(context, model="claude-opus-4-6", window_tokens=recorded)
    row = ModelRow(name="*/claude-opus-4-6", window_tokens=200_000, source="a table")
    window = ToldWindow(model=told, n_tokens=500_000)
    resolved = resolve_window(context, Config(), None, row, window)
    assert (resolved.n_tokens, resolved.source) == expected
