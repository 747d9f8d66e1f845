"""What a compaction noted of its loss is read back, and told in figures."""

import msgspec
import pytest

from factories import assistant, numbered, user
from ullage.core.gauge.loss import (
    Loss,
    add_up_losses,
    audit_details,
    loss_text,
    measured_text,
    read_noted_loss,
)
from ullage.core.summary.audit import audit
from ullage.core.summary.insert_missing import insert_missing, measure_loss


def loss(n_found: int, n_kept: int, n_inserted: int = 0, n_summary_tokens: int = 100) -> Loss:
    return Loss(
        n_found=n_found,
        n_kept=n_kept,
        n_inserted=n_inserted,
        n_tokens_replaced=1000,
        n_summary_tokens=n_summary_tokens,
    )


def test_the_figures_of_an_audit_survive_the_transcript() -> None:
    items = numbered([user("Never push to main."), assistant("I decided to use SQLite here.")])
    found = audit(items, "I decided to use SQLite here.", budget_tokens=600)
    done = insert_missing("…", found, budget_tokens=600, count=len)
    measured = measure_loss(found, done, n_tokens_replaced=900, n_summary_tokens=90)
    line = msgspec.json.encode({"by": "ullage", **audit_details(measured)})
    details = msgspec.json.decode(line, type=dict[str, object])
    assert read_noted_loss(details) == measured
    assert measured.by_kind["constraint"].n_inserted == 1
    assert measured.by_kind["decision"].n_kept == 1


@pytest.mark.parametrize(
    "details",
    [
        {},
        {"audit": None},
        {"audit": "36"},
        {"audit": {"found": 3}},
        {"audit": {"found": "3", "kept": 1, "inserted": 0, "tokensReplaced": 1}},
        {"audit": [1, 2]},
    ],
)
def test_details_of_other_writers_are_no_measure(details: dict[str, object]) -> None:
    assert read_noted_loss(details) is None


@pytest.mark.parametrize(
    ("measured", "text"),
    [
        (loss(36, 31, 5), "kept 31 of 36 facts; inserted 5"),
        (loss(36, 36), "kept 36 of 36 facts"),
        (loss(1200, 1000, 100), "kept 1,000 of 1,200 facts; inserted 100; left out 100"),
        (loss(0, 0), "kept 0 of 0 facts"),
    ],
)
def test_the_loss_is_told_in_one_line(measured: Loss, text: str) -> None:
    assert loss_text(measured) == text


def test_the_loss_of_a_session_is_that_of_the_compactions_that_noted_theirs() -> None:
    total = add_up_losses([loss(10, 8, 1), None, loss(30, 30, n_summary_tokens=300)])
    assert total is not None
    assert (total.n_found, total.n_lost) == (40, 1)
    assert total.loss_ratio == 1 / 40
    assert total.compression_ratio == 5.0
    assert add_up_losses([None]) is None


def test_nothing_found_is_nothing_lost() -> None:
    assert loss(0, 0).loss_ratio == 0.0
    assert loss(0, 0, n_summary_tokens=0).compression_ratio is None


@pytest.mark.parametrize(
    ("n_summary_tokens", "text"),
    [
        (100, "kept 9 of 9 facts · 10.0:1"),
        (500, "kept 9 of 9 facts · 2.0:1, below the aim of 5:1"),
        (0, "kept 9 of 9 facts"),
    ],
)
def test_a_summary_that_is_too_long_is_told_of(n_summary_tokens: int, text: str) -> None:
    assert measured_text(loss(9, 9, n_summary_tokens=n_summary_tokens)) == text
