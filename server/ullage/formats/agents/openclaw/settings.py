"""pi's and OpenClaw's own settings, as far as they say when they compact (0.87.1, 2026.9)."""

from pathlib import Path

from ullage.core.gauge.gauge import CompactionPoint
from ullage.formats.agent_info import Env, Home, RunningSession
from ullage.formats.agents.openclaw.entries import EVENTS, FLAT

RESERVE_TOKENS = 16_384
"""pi's `reserveTokens`."""
OPENCLAW_RESERVE_TOKENS = 20_000
"""OpenClaw's floor, at most a quarter of the window."""
HOME = Home(variable="PI_CODING_AGENT_DIR", default=".pi/agent", folders=("sessions",))
STATE_HOME = Home(variable="OPENCLAW_STATE_DIR", default=".openclaw", folders=("agents",))
_OPENCLAW = ("agents", "defaults")
"""Where in OpenClaw's settings `compaction` stands."""


def list_setting_files(path: Path, cwd: Path, env: Env, home: Path) -> tuple[Path, ...]:
    """List OpenClaw's settings for a session of its own, else those of pi."""
    if _is_openclaws(path):
        return (STATE_HOME.root(env, home) / "openclaw.json",)
    return cwd / ".pi" / "settings.json", HOME.root(env, home) / "settings.json"


def find_compaction_point(session: RunningSession) -> CompactionPoint | None:
    """Tell where pi compacts: its window less 16,384; OpenClaw keeps 20,000, or a quarter.

    Files of the older forms, events and flat entries, are of no agent that we know the rule of.
    """
    if session.header.dialect in (EVENTS, FLAT):
        return None
    is_openclaw = _is_openclaws(session.path)
    above = _OPENCLAW if is_openclaw else ()
    settings, n_window = session.settings, session.window.n_tokens
    if settings.find_flag(*above, "compaction", "enabled") is False:
        return None
    reserve = settings.find_number(*above, "compaction", "reserveTokens")
    default = min(OPENCLAW_RESERVE_TOKENS, n_window // 4) if is_openclaw else RESERVE_TOKENS
    if reserve is None or (is_openclaw and reserve.value <= default):
        detail = f"the window less {default:,} in reserve"
        return CompactionPoint(at_tokens=n_window - default, source="default", detail=detail)
    at_tokens = round(n_window - reserve.value)
    return CompactionPoint(at_tokens=at_tokens, source="setting", detail=reserve.origin)


def _is_openclaws(path: Path) -> bool:
    """Whether a transcript lies where OpenClaw has its own: `agents/<id>/sessions/<file>`."""
    return path.parts[-4:-3] == ("agents",)
