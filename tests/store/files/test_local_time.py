"""The local zone, beside the same one of the zone database."""

import sys
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from ullage.core.config.memory_settings import DreamingSettings
from ullage.core.dream.dream_state import DreamState
from ullage.core.dream.triggers import Sighting, find_due_trigger
from ullage.store.files.local_time import LOCAL, day_of, local_now

BERLIN = ZoneInfo("Europe/Berlin")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no process changes its zone there")


@pytest.fixture(autouse=True)
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


def test_each_hour_of_a_year_has_the_time_and_the_offset_of_the_database() -> None:
    begin = datetime(2026, 1, 1, 0, 30, 0, 250, tzinfo=UTC)
    for n_hours in range(365 * 24):
        at = begin + timedelta(hours=n_hours)
        here, there = at.astimezone(LOCAL), at.astimezone(BERLIN)
        assert here.replace(tzinfo=None) == there.replace(tzinfo=None)
        assert (here.fold, here.utcoffset()) == (there.fold, there.utcoffset())
        assert here.astimezone(UTC) == at


@pytest.mark.parametrize(
    ("at_ms", "day"),
    [
        (1_793_055_600_000, date(2026, 10, 27)),
        (1_793_055_599_999, date(2026, 10, 26)),
        (253_402_297_199_000, date(9999, 12, 31)),
        (253_402_300_799_000, None),
        (9_000_000_000_000_000, None),
        (10**400, None),
        (None, None),
    ],
)
def test_a_time_has_a_day_if_any_calendar_has_one(at_ms: int | None, day: date | None) -> None:
    assert day_of(at_ms) == day


def test_now_is_now() -> None:
    before = datetime.now(UTC)
    assert before <= local_now() <= datetime.now(UTC)


def test_a_night_of_25_hours_has_one_dream() -> None:
    dreaming = DreamingSettings(cron="30 2 * * *", idle_minutes=None, daily_log_kb=None)
    begin = datetime(2026, 10, 24, 12, tzinfo=UTC)
    state, dreams = DreamState(last_at=begin), list[str]()
    for n_minutes in range(24 * 60):
        now = (begin + timedelta(minutes=n_minutes)).astimezone(LOCAL)
        seen = Sighting(now=now, logs=f"{n_minutes}", log_bytes=0, last_active=None)
        if find_due_trigger(dreaming, state, seen):
            state = DreamState(last_at=now)
            dreams.append(now.isoformat())
    assert dreams == ["2026-10-25T02:30:00+02:00"]
