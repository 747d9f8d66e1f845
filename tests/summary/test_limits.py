"""When a failed request is tried again."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.summary.limits import Limits, pause_s, read_retry_after

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("7", 7.0),
        (" 1.5 ", 1.5),
        ("0", 0.0),
        ("1000000000", 1e9),
        ("Sat, 21 Nov 2026 12:00:30 GMT", 30.0),
        ("Sat, 21 Nov 2026 13:00:30 +0100", 30.0),
        ("Sat, 21 Nov 2026 12:00:30 -0000", 30.0),
        ("Sat, 21 Nov 2026 11:00:00 GMT", None),
        ("-7", None),
        ("1e9", None),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        (None, None),
        ("9" * 400, None),
        ("٧", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str | None, expected: float | None) -> None:
    assert read_retry_after(header, NOW) == expected


@given(st.text(max_size=80))
def test_any_retry_after_is_a_number_or_nothing(header: str) -> None:
    read = read_retry_after(header, NOW)
    assert read is None or read >= 0


@given(st.integers(1, 3), st.floats(0, 1))
def test_pauses_are_at_most_doubled(n_failed: int, jitter: float) -> None:
    assert 0 <= pause_s(n_failed, None, Limits(), jitter) <= 2 ** (n_failed - 1)
    assert pause_s(n_failed, 7.0, Limits(), jitter) == 7.0
