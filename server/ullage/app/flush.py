"""Flush memory: what a compaction would lose goes to the workspace's daily log before it."""

from pathlib import Path
from typing import Literal

import msgspec

from ullage.app.load import Loaded
from ullage.core.config.settings import Config
from ullage.store.flush_state import read_flush_state, record_flush
from ullage.store.places import Places

ENABLED = "compaction.memoryFlush.enabled"


class Flushed(msgspec.Struct, frozen=True, kw_only=True):
    """What a flush wrote."""

    log_path: Path | None
    """None where nothing was written."""
    text: str
    by: Literal["model", "extract", "nothing"]
    notes: tuple[str, ...]
    """What the user should know besides, a line each."""


def flush_wanted(loaded: Loaded, config: Config, places: Places) -> bool:
    """Tell whether a flush may come by itself before a compaction of this session.

    The daily log stands in the user's own folder, often a repository. Ullage begins no such log
    by itself: the workspace keeps a memory already (`memory/` or `MEMORY.md`), or the user said
    `memoryFlush.enabled: true`. What OpenClaw's configuration says is meant for its sessions.
    """
    if not config.flush.is_enabled or loaded.policy.is_read_only:
        return False
    workspace = workspace_of(loaded, places)
    if not workspace.is_dir():
        return False
    is_kept = (workspace / "memory").is_dir() or (workspace / "MEMORY.md").is_file()
    return is_kept or _is_asked_for(loaded, config)


def workspace_of(loaded: Loaded, places: Places) -> Path:
    """Give the folder that the session works in, else the current one."""
    cwd = loaded.session.header.cwd
    return Path(cwd) if cwd else places.cwd


def read_flushed_epoch(session_key: str, places: Places) -> int | None:
    """Give the epoch of a session's last flush; None where there was none."""
    return read_flush_state(session_key, places).epoch


def record_flushed(session_key: str, epoch: int, places: Places) -> None:
    """Remember that the agent itself took the turn in an epoch.

    Raises:
        StorageError: the state folder does not take it.
    """
    record_flush(session_key, places, epoch=epoch)


def _is_asked_for(loaded: Loaded, config: Config) -> bool:
    is_openclaw = loaded.session.header.agent == "openclaw"
    return any(
        setting.key.name == ENABLED
        and setting.value is True
        and (is_openclaw or setting.origins[-1].place != "openclaw")
        for setting in config.settings
    )
