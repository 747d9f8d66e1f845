"""What compactions cost a session: the table of docs/design/gauge.md, "Degradation"."""

import pytest

from ullage.core.gauge.status import FreshStart, evaluate, is_death_spiral

FRESH = FreshStart(
    save="ullage context export backup.json",
    give="ullage context import backup.json",
    short="ullage context export → fresh session → import",
)


@pytest.mark.parametrize(
    ("n_compactions", "risk", "loss_percent"),
    [
        (0, "low", 0),
        (1, "low", 10),
        (2, "medium", 20),
        (3, "high", 30),
        (4, "high", 40),
        (5, "critical", 50),
        (8, "critical", 80),
        (9, "critical", 90),
        (10, "critical", 90),
        (100, "critical", 90),
    ],
)
def test_risk_and_loss_grow_with_the_compactions(
    n_compactions: int, risk: str, loss_percent: int
) -> None:
    found = evaluate(n_compactions, FRESH)
    assert (found.n_compactions, found.risk, found.loss_percent) == (
        n_compactions,
        risk,
        loss_percent,
    )


@pytest.mark.parametrize("n_compactions", [0, 1, 2])
def test_below_three_compactions_all_is_well(n_compactions: int) -> None:
    assert evaluate(n_compactions, FRESH).recommendation == "Context quality is healthy."


@pytest.mark.parametrize("n_compactions", [3, 4])
def test_from_three_on_a_fresh_session_is_considered(n_compactions: int) -> None:
    lines = evaluate(n_compactions, FRESH).recommendation.split("\n")
    assert lines[0] == f"Session compacted {n_compactions} times. Quality may be degrading."
    assert lines[1].startswith("Consider: ")
    assert len(lines) == 2


@pytest.mark.parametrize("n_compactions", [5, 12])
def test_from_five_on_a_fresh_session_is_strongly_recommended(n_compactions: int) -> None:
    lines = evaluate(n_compactions, FRESH).recommendation.split("\n")
    assert lines[0] == (
        f"CRITICAL: {n_compactions} compactions. Context quality significantly degraded."
    )
    assert lines[1] == "Strongly recommend:"
    assert [line[:5] for line in lines[2:]] == ["  1. ", "  2. ", "  3. "]
    assert lines[3] == "  2. Start fresh session"


@pytest.mark.parametrize(("n_compactions", "expected"), [(0, False), (3, False), (4, True)])
def test_more_than_three_compactions_are_a_death_spiral(n_compactions: int, expected: bool) -> None:
    assert is_death_spiral(n_compactions) is expected
