"""The local clock in a zone that knows when its clocks change, and what it shows at a time."""

from datetime import UTC, date, datetime, timedelta, tzinfo


class _LocalZone(tzinfo):
    """The zone of this machine; what `astimezone()` gives has one offset for all times."""

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        return None if dt is None else dt.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, dt: datetime | None) -> None:
        del dt

    def tzname(self, dt: datetime | None) -> None:
        del dt

    def fromutc(self, dt: datetime) -> datetime:
        # It alone tells which of two equal hours is meant.
        return datetime.fromtimestamp(dt.replace(tzinfo=UTC).timestamp()).replace(tzinfo=self)


LOCAL = _LocalZone()


def local_now() -> datetime:
    return datetime.now(LOCAL)


def moment_of(at_ms: int | None) -> datetime | None:
    """Read a time by the clock here; None for none and for what no calendar has."""
    if at_ms is None:
        return None
    try:
        return datetime.fromtimestamp(at_ms / 1000, LOCAL)
    except (ValueError, OverflowError, OSError):
        return None


def day_of(at_ms: int | None) -> date | None:
    moment = moment_of(at_ms)
    return None if moment is None else moment.date()
