"""Bands, triggers and layers, with the figures of the specifications."""

import pytest

from ullage.core.config.settings import Policy
from ullage.core.gauge.gauge import (
    CompactionPoint,
    Gauge,
    Window,
    band_of,
    next_trigger,
    protected_tokens,
    triggers,
)

POLICY = Policy()


def gauge(used: int | None, window: int, own: int | None = None) -> Gauge:
    point = None
    if own is not None:
        point = CompactionPoint(at_tokens=own, source="default", detail="its own rule")
    return Gauge(
        used_tokens=used,
        used_source="unknown" if used is None else "reported",
        n_reported=used or 0,
        n_noted=0,
        n_counted=0,
        window=Window(n_tokens=window, source="setting", detail=""),
        utilization=None if used is None else used / window,
        agent_compacts_at=point,
    )


def names(window: int, policy: Policy = POLICY) -> list[str]:
    return [trigger.name for trigger in triggers(gauge(0, window), policy)]


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
    listed = [(each.name, each.at_tokens) for each in triggers(gauge(0, 200_000), POLICY)]
    assert listed == [
        ("checkpoint", 160_000),
        ("prune", 160_000),
        ("summarize", 176_000),
        ("full compaction", 190_000),
    ]


def test_the_agents_own_compaction_is_one_of_the_triggers() -> None:
    for own, place in ((100_000, 0), (180_000, 3), (195_000, 4)):
        listed = triggers(gauge(0, 200_000, own), POLICY)
        assert (listed[place].name, listed[place].at_tokens) == ("agent compacts", own)


def test_where_nothing_is_pruned_no_prune_is_announced() -> None:
    assert "prune" not in names(200_000, Policy(is_prune_enabled=False))


@pytest.mark.parametrize(
    ("used", "at_tokens"),
    [(0, 160_000), (159_999, 160_000), (160_000, 176_000), (175_999, 176_000), (176_000, 190_000)],
)
def test_the_next_trigger_is_the_nearest_one_ahead(used: int, at_tokens: int) -> None:
    trigger = next_trigger(gauge(used, 200_000), POLICY)
    assert trigger is not None
    assert trigger.at_tokens == at_tokens


def test_above_the_last_trigger_there_is_none() -> None:
    assert next_trigger(gauge(190_000, 200_000), POLICY) is None
    assert next_trigger(gauge(None, 200_000), POLICY) is None


def test_a_summary_comes_with_the_reserve_or_its_share_whichever_is_first() -> None:
    for window, at_tokens in ((1_000_000, 880_000), (100_000, 76_000), (24_000, 21_120)):
        points = {each.name: each.at_tokens for each in triggers(gauge(0, window), POLICY)}
        assert points["summarize"] == at_tokens
    small = triggers(gauge(0, 32_000), POLICY)
    assert (small[0].name, small[0].at_tokens) == ("summarize", 8_000)


@pytest.mark.parametrize("window", [1000, 24_000, 24_001, 32_000, 128_000, 200_000, 1_048_576])
def test_triggers_are_sorted_and_inside_the_window(window: int) -> None:
    at = [trigger.at_tokens for trigger in triggers(gauge(0, window), POLICY)]
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
