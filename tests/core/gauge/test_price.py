"""What tokens cost follows from the session's own requests and the model's prices."""

from itertools import count

import pytest

from ullage.core.gauge.price import (
    DAY_MS,
    Cost,
    InputPrices,
    Pace,
    Rate,
    find_cost,
    measure_pace,
    read_prices,
)
from ullage.core.gauge.window import ModelRow
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Message, Usage

START_MS = 1_700_000_000_000
PRICES = InputPrices(
    fresh_usd=3.0, cached_usd=0.3, written_usd=3.75, hour_usd=6.0, source="a page, a day"
)
_ids = count()


def answer(
    at_ms: int | None,
    *,
    fresh: int = 0,
    read: int = 0,
    write: int = 0,
    answer_id: str | None = None,
) -> ContextItem:
    usage = Usage(
        n_input=fresh, n_output=5, n_cache_read=read, n_cache_write=write, n_total=fresh + 5
    )
    message = Message(role="assistant", blocks=(), usage=usage, answer_id=answer_id)
    return ContextItem(
        entry_id=f"e{next(_ids)}", message=message, category="assistant", native={}, at_ms=at_ms
    )


def test_a_day_counts_from_the_first_request_and_only_where_there_was_one() -> None:
    night = [answer(START_MS + hour * 3_600_000, fresh=10) for hour in range(6)]
    later = [answer(START_MS + 5 * DAY_MS, fresh=10)]
    pace = measure_pace([*night, *later])
    assert pace is not None
    assert (pace.n_requests, pace.n_days) == (7, 2)
    assert pace.requests_a_day == 3.5


def test_an_answer_on_several_entries_is_one_request_with_its_last_usage() -> None:
    parts = [answer(START_MS, fresh=n, answer_id="a") for n in (1, 2, 40)]
    pace = measure_pace([*parts, answer(START_MS, fresh=60, answer_id="b")])
    assert pace is not None
    assert (pace.n_requests, pace.n_fresh) == (2, 100)


def test_an_entry_that_two_contexts_hold_counts_once() -> None:
    kept = answer(START_MS, fresh=9)
    pace = measure_pace([kept, answer(START_MS, fresh=1), kept])
    assert pace is not None
    assert pace.n_requests == 2


def test_without_a_time_there_is_no_pace() -> None:
    assert measure_pace([answer(None, fresh=9)]) is None


def test_a_part_costs_by_the_day_what_the_session_paid_on_average() -> None:
    pace = Pace(n_requests=40, n_days=2, n_fresh=100, n_cache_read=800, n_cache_write=100)
    cost = find_cost(50_000, Rate(model="m", pace=pace, prices=PRICES))
    assert cost.tokens_a_day == 1_000_000
    assert cost.cached_tokens_a_day == 800_000
    assert cost.usd_a_request_fresh == pytest.approx(0.15)
    assert cost.usd_a_request_cached == pytest.approx(0.015)
    # 0.1 of it fresh, 0.8 read, 0.1 written: of a million tokens.
    assert cost.usd_a_day == pytest.approx(0.3 + 0.24 + 0.375)


def test_an_unknown_model_costs_tokens_and_no_guess_of_money() -> None:
    pace = Pace(n_requests=3, n_days=1, n_fresh=0, n_cache_read=0, n_cache_write=0)
    cost = find_cost(10, Rate(model=None, pace=pace, prices=None))
    assert cost == Cost(tokens_a_day=30)


def test_without_a_pace_only_a_request_has_a_price() -> None:
    cost = find_cost(1_000_000, Rate(model="m", pace=None, prices=PRICES))
    assert cost == Cost(usd_a_request_fresh=3.0, usd_a_request_cached=0.3)


@pytest.mark.parametrize(
    ("published", "prices"),
    [
        ((3.0, 15.0, 0.3, 3.75, 6.0), (3.0, 0.3, 3.75, 6.0)),
        ((1.75, 14.0, None, None, None), (1.75, 1.75, 1.75, 1.75)),
        ((1.25, 10.0, 0.125, 0.0, None), (1.25, 0.125, 1.25, 1.25)),
        ((3.0, 15.0, 0.3, 3.75, None), (3.0, 0.3, 3.75, 3.75)),
        ((None, None, None, None, None), None),
        ((), None),
    ],
)
def test_what_has_no_price_of_its_own_costs_as_much_as_fresh_input(
    published: tuple[float | None, ...], prices: tuple[float, float, float, float] | None
) -> None:
    row = ModelRow(name="*/m", window_tokens=1, prices=published, source="a page")
    read = read_prices(row)
    assert (read and (read.fresh_usd, read.cached_usd, read.written_usd, read.hour_usd)) == prices
