"""When a dream is due: by the clock, after a pause, or by the size of today's log."""

from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

import msgspec
from cronsim import CronSim

from ullage.core.config.memory_settings import DreamingSettings
from ullage.core.dream.dream_state import DreamState

Trigger: TypeAlias = Literal["schedule", "session_idle", "daily_log_size"]
_DAY = timedelta(days=1)


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """What is there now."""

    now: datetime
    """In the local zone, one that knows when its clocks change."""
    logs: str
    """The fingerprint of the logs that a dream would read; empty where there are none."""
    log_bytes: int
    """Size of today's log."""
    last_active: datetime | None
    """When a session of the folder was written to last; None where none is known."""


def find_due_trigger(
    settings: DreamingSettings, state: DreamState, sighting: Sighting
) -> Trigger | None:
    """Find what asks for a dream now; nothing where the logs are as the last dream saw them.

    - `schedule`: the time that follows the last dream has come, whether or not anybody looked
      then; before the first dream, a time of the last 24 hours counts. One that the clock leaves
      out comes when it goes on, one that it shows twice counts once.
    - `session_idle`: a session went on after the last dream and is idle since. One dream a pause.
    - `daily_log_size`: today's log has reached another multiple of the threshold.

    A clock that went back over the last dream by a day or less waits until it gets there again.
    """
    if not sighting.logs or sighting.logs == state.logs:
        return None
    since = _find_begin(state, sighting.now)
    if settings.cron is not None and _has_come(settings.cron, since, sighting.now):
        return "schedule"
    if settings.idle_minutes is not None and sighting.last_active is not None:
        active = sighting.last_active.astimezone(UTC)
        is_idle = sighting.now - active >= timedelta(minutes=settings.idle_minutes)
        if is_idle and (state.last_at is None or active > since):
            return "session_idle"
    if settings.daily_log_kb is not None:
        threshold_bytes = settings.daily_log_kb * 1024
        is_same_day = state.log_day == sighting.now.date().isoformat()
        n_seen = state.log_bytes // threshold_bytes if is_same_day else 0
        if sighting.log_bytes // threshold_bytes > n_seen:
            return "daily_log_size"
    return None


def _find_begin(state: DreamState, now: datetime) -> datetime:
    """Give the time, in UTC, from which on something new counts."""
    now = now.astimezone(UTC)
    # A dream of tomorrow was noted by a clock that was wrong: waiting for it might take years.
    if state.last_at is None or state.last_at - now > _DAY:
        return now - _DAY
    return state.last_at.astimezone(UTC)


def _has_come(cron: str, since: datetime, now: datetime) -> bool:
    """Whether the first time of a schedule after `since` (UTC) is not after `now`."""
    for time in CronSim(cron, since.astimezone(now.tzinfo)):
        # In UTC, as hours that the clock shows twice are told apart there alone.
        if (at := time.astimezone(UTC)) > since:
            return at <= now.astimezone(UTC)
    return False
