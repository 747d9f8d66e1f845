"""The score is that of the document, and what nobody ever recalled is never applied unread."""

import math
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.dream.score import LASTING_BOOST, Support, may_apply_unread, score
from ullage.core.memory.journal import Asker, RecallCount

TODAY = date(2026, 11, 20)


def recalls(
    n: int, by: Asker = "agent", *, n_queries: int = 1, mean: float = 1.0, day: str = "2026-11-20"
) -> RecallCount:
    return RecallCount(
        chunk="c",
        by=by,
        n_recalls=n,
        n_queries=n_queries,
        n_days=1,
        first_day=day,
        last_day=day,
        total_score=mean * n,
    )


def days(*ages: int) -> tuple[str, ...]:
    return tuple((TODAY - timedelta(days=age)).isoformat() for age in ages)


ONE_DAY = 0.24 * math.log(2) / math.log(11) + 0.15 / 5 + 0.15 + 0.10 * 0.2


@pytest.mark.parametrize(
    ("support", "expected"),
    [
        (Support(days=days(0)), ONE_DAY),
        (Support(days=days(0, 0, 0)), ONE_DAY),
        (Support(days=days(0), n_tags=3), ONE_DAY + 0.06 / 2),
        (Support(days=days(0), n_tags=600), ONE_DAY + 0.06),
        (Support(days=days(0), probability=0.5), ONE_DAY + LASTING_BOOST / 2),
        (Support(days=days(14)), ONE_DAY - 0.15 / 2),
        (Support(days=days(-3)), ONE_DAY),
        (
            Support(days=days(0, 7)),
            0.24 * math.log(3) / math.log(11)
            + 0.15 * 2 / 5
            + 0.15
            + 0.10 * (0.55 * math.log(2) / math.log(5) + 0.45),
        ),
        (
            Support(days=days(0), recalls=(recalls(1, mean=0.5),)),
            0.30 * 0.5 + 0.24 * math.log(3) / math.log(11) + 0.15 / 5 + 0.15 + 0.02,
        ),
        (Support(days=()), 0.15 + 0.02),
        (Support(days=("yesterday",)), 0.24 * math.log(2) / math.log(11) + 0.15 + 0.02),
    ],
)
def test_each_part_has_its_weight(support: Support, expected: float) -> None:
    assert score(support, TODAY) == pytest.approx(expected)


def test_ullages_own_passes_are_no_signal() -> None:
    alone, seen = Support(days=days(0)), Support(days=days(0), recalls=(recalls(50, "ullage"),))
    assert score(seen, TODAY) == score(alone, TODAY)
    assert (seen.n_recalls, seen.n_signals, seen.n_contexts) == (0, 1, 1)


SURE = Support(days=days(0, 1, 2, 3), recalls=(recalls(8, n_queries=5),), n_tags=6, probability=1.0)


@pytest.mark.parametrize(
    ("support", "may"),
    [
        (SURE, True),
        (Support(days=SURE.days, recalls=(recalls(8, "user", n_queries=5),), probability=1), True),
        (Support(days=SURE.days, recalls=(), n_tags=6, probability=1.0), False),
        (Support(days=days(*range(60)), n_tags=6, probability=1.0), False),
        (Support(days=days(*range(60)), recalls=(recalls(99, "ullage"),), probability=1.0), False),
        (Support(days=days(0), recalls=(recalls(1),), n_tags=6, probability=1.0), False),
        (Support(days=days(0), recalls=(recalls(9),), n_tags=6, probability=1.0), False),
        (Support(days=SURE.days, recalls=(recalls(8, mean=0.01),), probability=0.3), False),
    ],
)
def test_the_gate_opens_for_what_was_recalled_and_said_often(support: Support, may: bool) -> None:
    assert may_apply_unread(support, TODAY) == may


@given(
    st.lists(st.integers(-400, 400), max_size=9),
    st.lists(
        st.tuples(st.integers(1, 99), st.sampled_from(["user", "agent", "ullage"])), max_size=4
    ),
    st.integers(0, 50),
    st.floats(0, 1),
)
def test_a_score_is_a_share_and_no_recall_no_unread(
    ages: list[int], counts: list[tuple[int, Asker]], n_tags: int, probability: float
) -> None:
    support = Support(
        days=days(*ages),
        recalls=tuple(recalls(n, by) for n, by in counts),
        n_tags=n_tags,
        probability=probability,
    )
    assert 0 <= score(support, TODAY) <= 1
    if all(by == "ullage" for _, by in counts):
        assert not may_apply_unread(support, TODAY)
