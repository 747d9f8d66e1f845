"""Whether a dream of a workspace is due now."""

from datetime import datetime
from pathlib import Path

from ullage.app.dream.daily_logs import read_daily_logs, see_logs
from ullage.app.sessions.find import look
from ullage.core.config.settings import Config
from ullage.core.dream.triggers import Sighting, Trigger, find_due_trigger
from ullage.store.files.places import Places
from ullage.store.memory.daily_log import keeps_memory
from ullage.store.memory.dream_state import read_dream_state


def find_due(
    workspace: Path,
    config: Config,
    places: Places,
    *,
    now: datetime,
    last_active: datetime | None,
) -> Trigger | None:
    """Find what asks for a dream of a workspace; `now` is local.

    Raises:
        StorageError: what the last dream saw cannot be read.
    """
    if not config.memory.is_enabled or config.policy.is_read_only or not keeps_memory(workspace):
        return None
    logs = read_daily_logs(workspace, now.date(), config.dreaming.n_days)
    if not logs:
        return None
    seen = see_logs(logs, now)
    sighting = Sighting(now=now, logs=seen.logs, log_bytes=seen.log_bytes, last_active=last_active)
    return find_due_trigger(config.dreaming, read_dream_state(workspace, places), sighting)


def find_last_activity(workspace: Path, places: Places) -> datetime | None:
    """Find when an agent wrote to a session of a workspace last; None where it has none."""
    seen = look((workspace,), places)
    newest_ns = max((session.written_ns for session in seen), default=None)
    return None if newest_ns is None else datetime.fromtimestamp(newest_ns / 1e9).astimezone()
