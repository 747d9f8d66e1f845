"""Codex's own settings, as far as they say when it compacts (0.169)."""

from pathlib import Path

from ullage.core.gauge.gauge import CompactionPoint
from ullage.formats.agent_info import Env, Home, RunningSession

COMPACTS_PERCENT = 90
"""Of the model's whole window."""
TOLD_PERCENT = 95
"""Of the whole window, what a rollout tells as the window."""
HOME = Home(variable="CODEX_HOME", default=".codex", folders=("sessions", "archived_sessions"))
"""Those in use, then the archived ones."""


def list_setting_files(path: Path, cwd: Path, env: Env, home: Path) -> tuple[Path, ...]:
    del path
    return cwd / ".codex" / "config.toml", HOME.root(env, home) / "config.toml"


def find_compaction_point(session: RunningSession) -> CompactionPoint:
    """Tell where Codex compacts: 244,800 where the rollout says 258,400.

    That is 90 % of the whole window, or what is configured where that is less.
    """
    whole = TOLD_PERCENT if session.window.source == "agent" else 100
    at_tokens = session.window.n_tokens * COMPACTS_PERCENT // whole
    limit = session.settings.find_number("model_auto_compact_token_limit")
    if limit is not None and 0 < limit.value < at_tokens:
        return CompactionPoint(at_tokens=round(limit.value), source="setting", detail=limit.origin)
    detail = f"{COMPACTS_PERCENT} % of the model's whole window"
    return CompactionPoint(at_tokens=at_tokens, source="default", detail=detail)
