"""When a dream is due, under a clock that the tests turn."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.config.memory_settings import DreamingSettings
from ullage.core.dream.dream_state import DreamState
from ullage.core.dream.triggers import Sighting, Trigger, find_due_trigger

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 10, 20, 12, tzinfo=BERLIN)
NEVER = DreamingSettings(cron=None, idle_minutes=None, daily_log_kb=None)
ALL = DreamingSettings(cron="30 2 * * *", idle_minutes=30, daily_log_kb=50)
KB = 1024


def at(text: str, fold: int = 0) -> datetime:
    return datetime.fromisoformat(f"2026-{text}").replace(tzinfo=BERLIN, fold=fold)


def sight(
    now: datetime = NOW, *, logs: str = "b", log_bytes: int = 0, last_active: datetime | None = None
) -> Sighting:
    return Sighting(now=now, logs=logs, log_bytes=log_bytes, last_active=last_active)


def settings(**only: object) -> DreamingSettings:
    return msgspec.structs.replace(NEVER, **only)


def dreamt(last_at: datetime, **fields: object) -> DreamState:
    return msgspec.structs.replace(DreamState(last_at=last_at, logs="a"), **fields)


def test_nothing_is_due_without_logs_or_where_they_are_as_they_were() -> None:
    busy = sight(log_bytes=500 * KB, last_active=NOW - timedelta(hours=2))
    assert find_due_trigger(ALL, DreamState(), busy) == "schedule"
    assert find_due_trigger(ALL, DreamState(), msgspec.structs.replace(busy, logs="")) is None
    assert find_due_trigger(ALL, dreamt(NOW - timedelta(days=9), logs="b"), busy) is None
    assert find_due_trigger(NEVER, DreamState(), busy) is None


@pytest.mark.parametrize(
    ("cron", "last", "now", "is_due"),
    [
        ("0 3 * * *", at("10-20T03:00"), at("10-21T02:59"), False),
        ("0 3 * * *", at("10-20T03:00"), at("10-21T03:00"), True),
        ("0 3 * * *", at("10-20T02:59"), at("10-20T03:00"), True),
        ("0 3 * * *", at("10-10T03:00"), at("10-20T01:00"), True),
        ("0 3 * * *", None, at("10-20T01:00"), True),
        ("0 3 * * sun", None, at("10-20T01:00"), False),
        ("0 3 * * tue", None, at("10-20T03:01"), True),
        ("0 0 */31 2 MON#5", at("10-10T03:00"), at("10-20T01:00"), False),
        # A night of 25 hours has 02:30 twice, and one of 23 hours has it not at all.
        ("30 2 * * *", at("10-24T02:30"), at("10-25T02:29"), False),
        ("30 2 * * *", at("10-24T02:30"), at("10-25T02:30"), True),
        ("30 2 * * *", at("10-25T02:30"), at("10-25T02:30", fold=1), False),
        ("30 2 * * *", at("10-25T02:10", fold=1), at("10-25T02:40", fold=1), False),
        ("30 2 * * *", at("10-25T02:10", fold=1), at("10-26T02:30"), True),
        ("*/30 * * * *", at("10-25T02:30"), at("10-25T02:00", fold=1), True),
        ("30 2 * * *", at("03-28T02:30"), at("03-29T01:59"), False),
        ("30 2 * * *", at("03-28T02:30"), at("03-29T03:00"), True),
        ("30 2 * * *", at("03-29T03:00"), at("03-29T23:00"), False),
        # The clock went back: by an hour, by a day, by years.
        ("0 3 * * *", at("10-20T03:00"), at("10-20T02:00"), False),
        ("0 3 * * *", at("10-20T03:00"), at("10-20T03:00"), False),
        ("0 3 * * *", at("10-20T03:00"), at("10-19T04:00"), False),
        ("0 3 * * *", at("10-20T03:00").replace(year=2031), at("10-19T04:00"), True),
    ],
)
def test_the_schedule_keeps_the_time_of_the_clock_on_the_wall(
    cron: str, last: datetime | None, now: datetime, is_due: bool
) -> None:
    state = DreamState() if last is None else dreamt(last.astimezone(UTC))
    trigger = find_due_trigger(settings(cron=cron), state, sight(now))
    assert trigger == ("schedule" if is_due else None)


@pytest.mark.parametrize(
    ("active", "last", "is_due"),
    [
        (None, None, False),
        (timedelta(minutes=30), None, True),
        (timedelta(minutes=29), None, False),
        (timedelta(minutes=30), timedelta(minutes=40), True),
        (timedelta(minutes=40), timedelta(minutes=30), False),
        (timedelta(minutes=-5), timedelta(minutes=30), False),
        (timedelta(days=40), None, True),
    ],
)
def test_a_pause_calls_for_one_dream(
    active: timedelta | None, last: timedelta | None, is_due: bool
) -> None:
    state = DreamState() if last is None else dreamt(NOW - last)
    seen = sight(last_active=None if active is None else (NOW - active).astimezone(UTC))
    trigger = find_due_trigger(settings(idle_minutes=30), state, seen)
    assert trigger == ("session_idle" if is_due else None)


@pytest.mark.parametrize(
    ("log_day", "before", "now", "is_due"),
    [
        ("", 0, 50 * KB - 1, False),
        ("", 0, 50 * KB, True),
        ("2026-10-20", 49 * KB, 50 * KB, True),
        ("2026-10-20", 50 * KB, 99 * KB, False),
        ("2026-10-20", 51 * KB, 100 * KB, True),
        ("2026-10-20", 170 * KB, 60 * KB, False),
        ("2026-10-19", 170 * KB, 60 * KB, True),
    ],
)
def test_the_log_counts_at_each_multiple_of_its_threshold(
    log_day: str, before: int, now: int, is_due: bool
) -> None:
    state = dreamt(NOW - timedelta(hours=1), log_day=log_day, log_bytes=before)
    trigger = find_due_trigger(settings(daily_log_kb=50), state, sight(log_bytes=now))
    assert trigger == ("daily_log_size" if is_due else None)


def minutes_of(year: int, month: int, zone: tzinfo) -> Iterator[datetime]:
    now = datetime(year, month, 1, tzinfo=zone).astimezone(UTC)
    for _ in range(31 * 24 * 60):
        yield now.astimezone(zone)
        now += timedelta(minutes=1)


@pytest.mark.parametrize("month", [3, 10])
def test_a_month_minute_by_minute_has_one_dream_a_cause(month: int) -> None:
    """Sessions from 9 to 12 and from 22 to 4, whose agents log 2 KB every ten minutes."""
    state, log_bytes, logs, day = DreamState(), 0, "", ""
    active: datetime | None = None
    dreams: list[tuple[datetime, Trigger]] = []
    n_thresholds: Counter[str] = Counter()
    for now in minutes_of(2026, month, BERLIN):
        if day != (day := now.date().isoformat()):
            log_bytes = 0
        if (9 <= now.hour < 12 or now.hour >= 22 or now.hour < 4) and now.minute % 10 == 0:
            active, log_bytes, logs = now, log_bytes + 2 * KB, now.astimezone(UTC).isoformat()
        n_thresholds[day] = log_bytes // (50 * KB)
        seen = sight(now, logs=logs, log_bytes=log_bytes, last_active=active)
        if trigger := find_due_trigger(ALL, state, seen):
            dreams.append((now, trigger))
            state = DreamState(last_at=now, logs=logs, log_day=day, log_bytes=log_bytes)
    by_cause = {trigger: [now for now, t in dreams if t == trigger] for _, trigger in dreams}
    nights = [f"{now:%d %H:%M}" for now in by_cause["schedule"]]
    # The first is of the very first minute, when 02:30 of the day before was missed.
    expected = [f"{n:02} 02:30" for n in range(1, 32)]
    if month == 3:
        expected[28] = "29 03:00"
    assert nights == ["01 00:00", *expected]
    assert Counter(f"{now:%Y-%m-%d}" for now in by_cause["daily_log_size"]) == n_thresholds
    assert {1, 2} <= set(n_thresholds.values())
    pauses = [f"{now:%H:%M}" for now in by_cause["session_idle"]]
    assert set(pauses) == {"04:20", "12:20"}
    assert len(pauses) == 62


@given(
    st.lists(st.timedeltas(timedelta(days=-3), timedelta(days=3)), max_size=30),
    st.sampled_from(["30 2 * * *", "*/20 * * * *", "0 3 * * sun", "15 * * * *"]),
)
def test_a_clock_that_jumps_never_makes_it_dream_twice_of_the_same(
    jumps: list[timedelta], cron: str
) -> None:
    dreaming = msgspec.structs.replace(ALL, cron=cron)
    state, now = DreamState(), datetime(2026, 10, 25, tzinfo=UTC)
    for number, jump in enumerate(jumps):
        now += jump
        local = now.astimezone(BERLIN)
        seen = sight(local, logs=f"{number // 2}", log_bytes=60 * KB, last_active=now)
        if find_due_trigger(dreaming, state, seen):
            day = local.date().isoformat()
            state = DreamState(last_at=now, logs=seen.logs, log_day=day, log_bytes=60 * KB)
            assert find_due_trigger(dreaming, state, seen) is None
            changed = msgspec.structs.replace(seen, logs="changed")
            assert find_due_trigger(dreaming, state, changed) is None
