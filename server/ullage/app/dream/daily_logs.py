"""The daily logs of the last days, and what a dream of them remembers; few imports, for a look."""

import hashlib
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path

from ullage.core.dream.dream_state import DreamState
from ullage.store.memory.places import FOLDER
from ullage.store.memory.seen import MemoryFile, read_memory_files


def read_daily_logs(workspace: Path, today: date, n_days: int) -> tuple[MemoryFile, ...]:
    names = [_name_log(today - timedelta(days=n)) for n in range(n_days)]
    return tuple(read_memory_files(workspace, names))


def see_logs(logs: Sequence[MemoryFile], now: datetime) -> DreamState:
    """Give what a dream of daily logs sees; `now` is local."""
    # Their content tells logs apart.
    joined = "\n".join(f"{log.path} {log.sha256}" for log in logs)
    return DreamState(
        last_at=now,
        logs=hashlib.sha256(joined.encode()).hexdigest()[:16] if joined else "",
        log_day=f"{now:%Y-%m-%d}",
        log_bytes=sum(log.size_bytes for log in logs if log.path == _name_log(now)),
    )


def _name_log(day: date) -> str:
    return f"{FOLDER}/{day:%Y-%m-%d}.md"
