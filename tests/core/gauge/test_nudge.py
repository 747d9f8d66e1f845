"""Nudges: one for each band until the context was clearly below it, and none while snoozed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.config.settings import Policy
from ullage.core.gauge.gauge import LAYERS, band_of
from ullage.core.gauge.nudge import FALL_RATIO, Nudges, ask, nudge, record_return, snooze

POLICY = Policy()
STARTS = {"warning": POLICY.checkpoint_ratio, "critical": POLICY.full_ratio}


def told(values, nudges: Nudges | None = None, n_compactions: int = 0) -> list[str | None]:
    nudges = nudges or Nudges()
    found = []
    for value in values:
        nudges, band = nudge(nudges, value, n_compactions, POLICY)
        found.append(band)
    return found


@pytest.mark.parametrize(
    ("values", "bands"),
    [
        ((0.5, 0.75, 0.79), [None] * 3),
        ((0.82, 0.85, 0.90), ["warning", None, None]),
        ((0.82, 0.96, 0.99), ["warning", "critical", None]),
        ((0.97,), ["critical"]),
        ((0.82, 0.79, 0.82), ["warning", None, None]),
        ((0.82, 0.40, 0.82), ["warning", None, "warning"]),
        ((0.97, 0.83, 0.97), ["critical", None, "critical"]),
        ((0.97, 0.90, 0.97), ["critical", None, None]),
        ((0.82, None, 0.82), ["warning", None, None]),
    ],
    ids=str,
)
def test_a_band_is_told_of_once_until_the_context_fell(values, bands) -> None:
    assert told(values) == bands


@given(st.lists(st.none() | st.floats(0, 1.3)))
def test_no_band_is_told_of_twice_without_a_fall_between(values: list[float | None]) -> None:
    lowest: dict[str, float] = {}
    for value, band in zip(values, told(values), strict=True):
        if value is not None:
            lowest = {known: min(least, value) for known, least in lowest.items()}
        if band is not None:
            assert value is not None
            assert band == band_of(value, POLICY)
            # Floats miss the edge by a hair.
            assert lowest.get(band, 0) < STARTS[band] - FALL_RATIO + 1e-9
            lowest[band] = value


def test_snoozed_is_a_band_until_the_next_compaction_or_a_higher_band() -> None:
    snoozed = snooze(Nudges(), "warning", 0)
    assert told((0.82,), snoozed) == [None]
    assert told((0.96,), snoozed) == ["critical"]
    assert told((0.82,), snoozed, n_compactions=1) == ["warning"]
    assert ask(snoozed, "prune", "warning", 0) == (snoozed, False)
    assert ask(snoozed, "prune", "warning", 1)[1]


def test_a_layer_is_asked_about_once_and_a_stronger_one_after_it() -> None:
    nudges = Nudges()
    for layer in LAYERS:
        nudges, is_asked = ask(nudges, layer, "warning", 0)
        assert is_asked
        assert not ask(nudges, layer, "warning", 0)[1]
    assert not ask(nudges, "prune", "warning", 0)[1]
    assert ask(nudges, "prune", "warning", 1)[1]
    assert told((0.82,), nudges) == [None]


def test_a_band_that_was_come_back_to_is_not_told_of_and_a_higher_one_is() -> None:
    nudges = record_return(Nudges(), "summarize", "warning", 0)
    assert told((0.82, 0.96), nudges) == [None, "critical"]
    assert not ask(nudges, "summarize", "warning", 0)[1]
    assert ask(nudges, "full", "critical", 0)[1]
    assert record_return(Nudges(), "prune", "notice", 0) == Nudges()
