"""Loop protection: what makes automatic runs wait, for how long, and what ends the wait."""

import pytest

from ullage.core.change.breaker import (
    MAX_STRIKES,
    RUN_INTERVAL_MS,
    STRIKE_LIFE_MS,
    Breaker,
    begin_epoch,
    is_tripped,
    put_off,
    record_applied,
    record_failure,
    record_run,
    record_warning,
    refuse_run,
)
from ullage.core.gauge.gauge import LAYERS, Layer

NOW = 1_770_000_000_000
LATER = NOW + RUN_INTERVAL_MS


def ran(n_after: int, layer: Layer = "summarize", breaker: Breaker | None = None) -> Breaker:
    """Record a run that began at 100,000 tokens."""
    return record_run(
        breaker or Breaker(), layer, n_before=100_000, n_after=n_after, n_compactions=1, now_ms=NOW
    )


def test_a_new_session_may_do_everything() -> None:
    assert all(refuse_run(Breaker(), layer, 0, NOW) is None for layer in LAYERS)


@pytest.mark.parametrize(
    ("n_after", "used", "is_refused"),
    [
        (80_000, 80_001, False),
        (80_001, 80_002, True),
        (80_001, 96_001, True),
        (80_001, 96_002, False),
        (100_000, 119_999, True),
        (100_000, 120_000, False),
    ],
)
def test_after_a_gain_below_a_fifth_the_context_must_grow_by_a_fifth(
    n_after: int, used: int, *, is_refused: bool
) -> None:
    assert (refuse_run(ran(n_after), "summarize", used, LATER) is not None) is is_refused


@pytest.mark.parametrize(
    ("ran_layer", "layer", "is_refused"),
    [
        ("prune", "prune", True),
        ("prune", "summarize", False),
        ("summarize", "prune", True),
        ("summarize", "summarize", True),
        ("summarize", "full", False),
        ("full", "full", True),
    ],
)
def test_a_run_of_little_gain_holds_its_own_kind_and_weaker_ones(
    ran_layer: Layer, layer: Layer, *, is_refused: bool
) -> None:
    assert (refuse_run(ran(95_000, ran_layer), layer, 95_000, LATER) is not None) is is_refused


@pytest.mark.parametrize(
    ("ran_layer", "layer", "after_ms", "is_refused"),
    [
        ("summarize", "summarize", RUN_INTERVAL_MS - 1, True),
        ("summarize", "full", RUN_INTERVAL_MS - 1, True),
        ("summarize", "summarize", RUN_INTERVAL_MS, False),
        ("summarize", "prune", 0, False),
        ("prune", "prune", RUN_INTERVAL_MS - 1, True),
        ("prune", "summarize", 0, False),
        ("summarize", "summarize", -RUN_INTERVAL_MS, False),
        ("summarize", "summarize", -1, True),
    ],
)
def test_a_run_waits_ten_minutes_for_the_next_of_its_kind(
    ran_layer: Layer, layer: Layer, after_ms: int, *, is_refused: bool
) -> None:
    refusal = refuse_run(ran(40_000, ran_layer), layer, 90_000, NOW + after_ms)
    assert (refusal is not None) is is_refused


@pytest.mark.parametrize(("n_after", "is_refused"), [(80_000, False), (80_001, True)])
def test_a_compaction_that_was_applied_holds_up_no_other_where_it_freed_a_fifth(
    n_after: int, *, is_refused: bool
) -> None:
    applied = record_applied(ran(n_after), 2)
    assert applied.epoch == 2
    assert (refuse_run(applied, "full", 200_000, NOW + 1) is not None) is is_refused


def test_three_failures_in_a_row_stop_everything_until_they_expire() -> None:
    breaker = Breaker()
    for n in range(MAX_STRIKES):
        assert not is_tripped(breaker, NOW + n)
        breaker = record_failure(breaker, NOW + n)
    for is_overflow in (False, True):
        assert refuse_run(breaker, "full", 10**6, NOW + 9, is_overflow=is_overflow) is not None
    assert is_tripped(breaker, NOW + STRIKE_LIFE_MS - 1)
    assert not is_tripped(breaker, NOW + STRIKE_LIFE_MS)


def test_a_compaction_of_little_gain_is_a_failure_and_a_prune_of_little_gain_is_none() -> None:
    breaker = pruned = Breaker()
    for _ in range(MAX_STRIKES):
        breaker = ran(95_000, "full", breaker)
        pruned = ran(95_000, "prune", pruned)
    assert is_tripped(breaker, NOW)
    assert not is_tripped(pruned, NOW)


def test_a_good_compaction_clears_the_failures() -> None:
    breaker = record_failure(record_failure(Breaker(), NOW), NOW)
    assert ran(40_000, "summarize", breaker).strikes_ms == ()
    assert ran(40_000, "prune", breaker).strikes_ms == (NOW, NOW)


def test_a_warning_lasts_until_a_compaction_is_worth_it() -> None:
    breaker = record_warning(Breaker(), n_compactions=0)
    assert ran(40_000, "prune", breaker).is_warned
    assert ran(95_000, "full", breaker).is_warned
    assert not ran(40_000, "full", breaker).is_warned


def test_an_overflow_waits_for_nothing_but_failures() -> None:
    assert refuse_run(ran(95_000, "full"), "full", 95_000, NOW, is_overflow=True) is None


def test_what_the_user_put_off_rests_until_the_context_has_grown_by_a_fifth() -> None:
    breaker = put_off(
        ran(40_000), "full", used_tokens=100_000, window_tokens=200_000, n_compactions=0
    )
    for layer in LAYERS:
        assert refuse_run(breaker, layer, 119_999, LATER) is not None
        assert refuse_run(breaker, layer, 120_000, LATER) is None


@pytest.mark.parametrize(
    ("used", "window", "until"),
    [
        (160_000, 200_000, 180_000),
        (193_000, 200_000, 196_500),
        (193_000, None, 231_600),
        (210_000, 200_000, 252_000),
    ],
)
def test_what_was_put_off_in_a_full_window_is_due_again_before_its_end(
    used: int, window: int | None, until: int
) -> None:
    breaker = put_off(Breaker(), "full", used_tokens=used, window_tokens=window, n_compactions=0)
    assert breaker.held_until_tokens == until


def test_a_compaction_by_somebody_else_begins_a_new_epoch() -> None:
    breaker = record_warning(ran(95_000, "full"), n_compactions=1)
    assert begin_epoch(breaker, 1) is breaker
    assert begin_epoch(breaker, 0) is breaker
    later = begin_epoch(breaker, 2)
    assert (later.epoch, later.held_layer, later.is_warned) == (2, None, False)
    assert later.strikes_ms == breaker.strikes_ms
    assert later.last_compaction_ms == NOW
