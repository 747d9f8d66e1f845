"""The local clock in a zone that knows when its clocks change."""

from datetime import UTC, datetime, timedelta, tzinfo


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
