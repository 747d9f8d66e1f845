"""Bands, triggers and layers, with the figures of the specifications."""

import pytest

from ullage.core.config.settings import Policy
from ullage.core.gauge.gauge import band_of, due_triggers, next_trigger, protected_tokens, triggers

POLICY = Policy()


@pytest.mark.parametrize(
    ("utilization", "band"),
    [
        (None, "normal"),
        (0.0, "normal"),
        (0.6999, "normal"),
        (0.70, "notice"),
        (0.7999, "notice"),
        (0.80, "warning"),
        (0.9499, "warning"),
        (0.95, "critical"),
        (1.7, "critical"),
    ],
)
def test_the_bands_begin_at_70_80_and_95_percent(utilization: float | None, band: str) -> None:
    assert band_of(utilization, POLICY) == band


def test_the_triggers_of_a_window_of_200000() -> None:
    found = [(trigger.name, trigger.at_tokens) for trigger in triggers(200_000, POLICY)]
    assert found == [
        ("checkpoint", 160_000),
        ("summarize", 176_000),
        ("reserve", 176_000),
        ("full compaction", 190_000),
    ]


@pytest.mark.parametrize(
    ("used", "at_tokens"),
    [(0, 160_000), (159_999, 160_000), (160_000, 176_000), (175_999, 176_000), (176_000, 190_000)],
)
def test_the_next_trigger_is_the_nearest_one_ahead(used: int, at_tokens: int) -> None:
    trigger = next_trigger(used, 200_000, POLICY)
    assert trigger is not None
    assert trigger.at_tokens == at_tokens


def test_above_the_last_trigger_there_is_none() -> None:
    assert next_trigger(190_000, 200_000, POLICY) is None


def test_a_large_window_reaches_its_reserve_last_and_a_small_one_has_none() -> None:
    assert triggers(1_000_000, POLICY)[-1].name == "reserve"
    assert triggers(1_000_000, POLICY)[-1].at_tokens == 976_000
    assert "reserve" not in [trigger.name for trigger in triggers(24_000, POLICY)]
    small = triggers(32_000, POLICY)
    assert small[0].name == "reserve"
    assert small[0].at_tokens == 8_000


@pytest.mark.parametrize("window", [1000, 24_000, 24_001, 32_000, 128_000, 200_000, 1_048_576])
def test_triggers_are_sorted_and_inside_the_window(window: int) -> None:
    at = [trigger.at_tokens for trigger in triggers(window, POLICY)]
    assert at == sorted(at)
    assert all(0 < tokens < window for tokens in at)


@pytest.mark.parametrize(
    ("layer", "window", "protected"),
    [
        ("summarize", 200_000, 25_000),
        ("full", 200_000, 15_000),
        ("summarize", 40_000, 20_000),
        ("full", 40_000, 15_000),
        ("full", 8_192, 4_096),
    ],
)
def test_a_layer_protects_its_share_but_at_most_half_the_window(
    layer, window: int, protected: int
) -> None:
    assert protected_tokens(layer, window, POLICY) == protected


@pytest.mark.parametrize(
    ("used", "names"),
    [
        (159_999, []),
        (160_000, ["checkpoint"]),
        (176_000, ["checkpoint", "summarize", "reserve"]),
        (190_000, ["checkpoint", "summarize", "reserve", "full compaction"]),
    ],
)
def test_what_was_passed_is_due(used: int, names: list[str]) -> None:
    assert [trigger.name for trigger in due_triggers(used, 200_000, POLICY)] == names
