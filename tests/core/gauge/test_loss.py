"""What was measured of a compaction is read back, and told in figures."""

import msgspec
import pytest

from factories import assistant, numbered, user
from ullage.core.gauge.loss import (
    KindLoss,
    Loss,
    add_up_losses,
    audit_details,
    loss_text,
    measured_text,
    read_noted_loss,
)
from ullage.core.summary.audit import audit
from ullage.core.summary.insert_missing import insert_missing, measure_loss


def loss(
    *, n_summary_tokens: int = 100, n_left_out: int = 0, n_asked_again: int = 0, **put_back: int
) -> Loss:
    return Loss(
        n_inserted=sum(put_back.values()),
        n_left_out=n_left_out,
        n_tokens_replaced=1000,
        n_summary_tokens=n_summary_tokens,
        n_asked_again=n_asked_again,
        by_kind={kind: KindLoss(n_inserted=n) for kind, n in put_back.items()},
    )


def test_what_was_measured_survives_the_transcript() -> None:
    items = numbered([user("Never push to main."), assistant("I decided to use SQLite here.")])
    found = audit(items, "I decided to use SQLite here.", budget_tokens=600)
    done = insert_missing("…", found, budget_tokens=600, count=len)
    measured = measure_loss(
        found, done, n_tokens_replaced=900, n_summary_tokens=90, n_asked_again=2
    )
    line = msgspec.json.encode({"by": "ullage", **audit_details(measured)})
    details = msgspec.json.decode(line, type=dict[str, object])
    assert read_noted_loss(details) == measured
    assert measured.put_back == {"constraint": 1}


def test_a_note_with_figures_of_facts_is_read_without_them() -> None:
    noted = {
        "found": 36,
        "kept": 31,
        "inserted": 4,
        "tokensReplaced": 9000,
        "summaryTokens": 1000,
        "byKind": {"constraint": {"found": 3, "kept": 2, "inserted": 1}},
    }
    read = read_noted_loss({"audit": noted})
    assert read is not None
    assert (read.n_inserted, read.put_back, read.compression_ratio) == (4, {"constraint": 1}, 9.0)
    assert "found" not in audit_details(read)["audit"]  # pyright: ignore[reportOperatorIssue]


@pytest.mark.parametrize(
    "details",
    [
        {},
        {"audit": None},
        {"audit": "36"},
        {"audit": {"found": 3}},
        {"audit": {"inserted": "0", "tokensReplaced": 1, "summaryTokens": 1}},
        {"audit": [1, 2]},
    ],
)
def test_details_of_other_writers_are_no_measure(details: dict[str, object]) -> None:
    assert read_noted_loss(details) is None


@pytest.mark.parametrize(
    ("measured", "text"),
    [
        (loss(constraint=2, file=1), "put back 2 constraints, 1 file"),
        (loss(), "nothing put back"),
        (
            loss(decision=1200, n_left_out=100),
            "put back 1,200 decisions; 100 points are not in the summary",
        ),
        (loss(n_left_out=1), "nothing put back; 1 point is not in the summary"),
        (msgspec.structs.replace(loss(), n_inserted=5), "put back 5 points"),
    ],
)
def test_what_was_put_back_is_told_in_one_line(measured: Loss, text: str) -> None:
    assert loss_text(measured) == text


def test_a_sessions_figures_are_those_of_the_compactions_that_noted_theirs() -> None:
    total = add_up_losses([loss(pin=1, file=2), None, loss(file=3, n_summary_tokens=300)])
    assert total is not None
    assert (total.n_inserted, total.put_back) == (6, {"pin": 1, "file": 5})
    assert total.compression_ratio == 5.0
    assert add_up_losses([None]) is None


def test_without_a_summary_there_is_no_ratio() -> None:
    assert loss(n_summary_tokens=0).compression_ratio is None


@pytest.mark.parametrize(
    ("measured", "text"),
    [
        (loss(), "nothing put back · summary 10.0:1"),
        (loss(n_summary_tokens=500), "nothing put back · summary 2.0:1, below the aim of 5:1"),
        (loss(n_summary_tokens=0, n_asked_again=3), "nothing put back · 3 asked again"),
    ],
)
def test_the_ratio_and_what_was_asked_again_stand_behind(measured: Loss, text: str) -> None:
    assert measured_text(measured) == text
